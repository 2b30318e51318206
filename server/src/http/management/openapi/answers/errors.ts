/**
 * Errors: the gateway's own envelope, and what upstreams say, untouched. The last of them is the one place of the document
 * that is open: nobody can say beforehand how a vendor refuses something.
 */
import { ERRORS } from '../../../../core/errors/catalogue.ts'
import type { JsonObject } from '../../../../core/json.ts'
import {
  among,
  anyJson,
  anyObject,
  closed,
  decimal,
  described,
  either,
  exactly,
  list,
  maybe,
  named,
  text,
  whole,
  word,
} from './words.ts'

const upstreamBody = { upstream_body: described('What the upstream said, where it said something.', anyJson) }

const fields = list(closed({ in: among('path', 'query', 'header', 'body'), path: text, message: text }))

/** A limit of a level, a member or a key that is used up, and when there is room again. */
const limit = closed(
  { of: text, dimension: text, limit: either(decimal, text) },
  { seconds: whole, opens_at: text },
)

const details = either(
  described('Every path at fault.', closed({ fields })),
  closed({ param: text }, { reason: text }),
  closed({ limit }),
  closed({ batch_id: text }),
  described('Why the vendor did not make a video.', closed({ code: text, message: text })),
)

const own = closed(
  {
    code: { type: 'integer', enum: Object.keys(ERRORS).map(Number) },
    message: word,
    error: closed(
      {
        message: word,
        type: exactly('gateway_error'),
        code: { type: 'string', enum: Object.keys(ERRORS) },
        request_id: word,
      },
      { details },
    ),
  },
  { type: described('On /v1/messages only.', exactly('error')), ...upstreamBody },
)

const code = maybe(either(text, whole))

/** Of the family that grew around OpenAI's. */
const upstream = either(
  closed(
    {
      error: closed(
        { message: text },
        { type: maybe(text), param: maybe(text), code, request_id: text, details: maybe(anyJson) },
      ),
    },
    { message: text, request_id: text, ...upstreamBody },
  ),
  closed({ error: text }, { code, request_id: text, ...upstreamBody }),
  closed(
    { object: exactly('error'), message: anyJson },
    { type: maybe(text), param: maybe(text), code, raw_status_code: whole, ...upstreamBody },
  ),
)

const foreign: JsonObject = {
  ...anyObject,
  minProperties: 1,
  not: {
    anyOf: [
      { type: 'object', properties: { error: anyObject }, required: ['error'] },
      { type: 'object', properties: { code: whole }, required: ['code'] },
    ],
  },
}

/** In a chat stream, where there is no status any more. */
const inStream = closed({
  error: closed({ message: text }, { type: maybe(text), param: maybe(text), code, request_id: text }),
})

export const ERROR_ANSWERS: JsonObject = {
  Error: described('An error that the gateway made.', own),
  UpstreamError: described(
    'An error of the upstream in the form of its protocol, or turned into it.',
    upstream,
  ),
  ForeignError: described('An error of the upstream in a form of its own, as it came.', foreign),
  StreamError: described('The last `data:` line of a chat stream that broke.', inStream),
}

export const GATEWAY_ERROR = named('Error')
const orOfUpstream = (...forms: readonly string[]): JsonObject =>
  either(GATEWAY_ERROR, ...forms.map(named), named('ForeignError'))

export const CALL_ERROR = orOfUpstream('UpstreamError')
export const MESSAGES_ERROR = orOfUpstream('MessagesError')
export const GEMINI_ERROR = orOfUpstream('GeminiError')
