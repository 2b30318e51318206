/**
 * Errors: the gateway's own envelope, and upstreams' errors, unchanged. The last schema is the only open one of the
 * document: how a vendor refuses a request cannot be known in advance.
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
  nothing,
  text,
  whole,
  word,
} from './words.ts'

/** In `upstream_body`, wherever the gateway or another protocol replaces the upstream’s error. */
export const UPSTREAM_BODY = { upstream_body: named('UpstreamBody') }

/** What the message says, for who says it in another language: `core/sentences`. */
const rule = described('Stable; the message is its English sentence.', text)
const values = described('What stands in the sentence, by name; some are sentences themselves.', anyObject)

const fields = list(
  closed({ in: among('path', 'query', 'header', 'body'), path: text, message: text, rule }, { values }),
)

/** The used-up limit of an account, a member or a key, and when it is free again. */
const limit = closed(
  { of: text, dimension: text, limit: either(decimal, text) },
  { seconds: whole, opens_at: text },
)

const details = either(
  described('Every path at fault.', closed({ fields })),
  closed({ param: text }, { reason: text }),
  closed({ limit }),
  closed({ rule, batch_id: text }, { values }),
  described('The rule of the message.', closed({ rule }, { values })),
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
  { type: described('On /v1/messages only.', exactly('error')), ...UPSTREAM_BODY },
)

const code = maybe(either(text, whole))

/** The gateway’s own type is not used by upstreams. */
const foreignType = maybe({ type: 'string', not: exactly('gateway_error') })

/** Errors in OpenAI's format and variants of it. */
const upstream = either(
  closed(
    {
      error: closed(
        { message: text },
        { type: foreignType, param: maybe(text), code, request_id: text, details: anyJson },
      ),
    },
    { request_id: text, ...UPSTREAM_BODY },
  ),
  closed(
    {
      message: text,
      error: closed({ message: text, type: exactly('upstream_error'), code: text }),
    },
    UPSTREAM_BODY,
  ),
  closed(
    { object: exactly('error'), message: anyJson },
    { type: maybe(text), param: maybe(text), code, raw_status_code: whole, ...UPSTREAM_BODY },
  ),
)

/** Errors of servers that follow no protocol. */
const plain = either(
  closed({ error: text }, { code, request_id: text, ...UPSTREAM_BODY }),
  closed(
    {
      detail: either(
        text,
        list(
          closed(
            { msg: text },
            { loc: list(either(text, whole)), type: text, input: anyJson, ctx: anyObject, url: text },
          ),
        ),
      ),
    },
    UPSTREAM_BODY,
  ),
)

/** Members of which even bodies of unknown form have one. */
const FOREIGN_WORDS = [
  'code',
  'Code',
  'message',
  'Message',
  'msg',
  'status',
  'title',
  'reason',
  'errors',
  'error_code',
  'error_msg',
  'base_resp',
  'Response',
  'ResponseMetadata',
]

const withMember = (name: string, schema: JsonObject): JsonObject => ({
  type: 'object',
  properties: { [name]: schema },
  required: [name],
})

/** A body that must not match any of the forms above. */
const foreign: JsonObject = {
  ...anyObject,
  anyOf: FOREIGN_WORDS.map((word) => withMember(word, anyJson)),
  not: either(
    withMember('error', anyJson),
    withMember('detail', anyJson),
    withMember('upstream_body', anyJson),
    withMember('code', whole),
    withMember('type', exactly('error')),
  ),
}

const upstreamBody = either(
  text,
  nothing,
  ...['UpstreamError', 'MessagesError', 'GeminiError', 'PlainError', 'ForeignError'].map(named),
  { ...list(named('GeminiError')), minItems: 1 },
)

/** In a chat stream, where there is no status. */
const inStream = closed({
  error: closed({ message: text }, { type: maybe(text), param: maybe(text), code, request_id: text }),
})

export const ERROR_ANSWERS: JsonObject = {
  Error: described('An error of the gateway.', own),
  UpstreamError: described(
    'An error of the upstream in the form of its protocol, or turned into it.',
    upstream,
  ),
  PlainError: described('An error of the upstream in no protocol’s form.', plain),
  UpstreamBody: described('The upstream’s message, if there was one.', upstreamBody),
  ForeignError: described('An error of the upstream in its own form, unchanged.', foreign),
  StreamError: described('The last `data:` line of a chat stream that broke.', inStream),
}

export const GATEWAY_ERROR = named('Error')
const orOfUpstream = (...forms: readonly string[]): JsonObject =>
  either(GATEWAY_ERROR, ...forms.map(named), named('PlainError'), named('ForeignError'))

export const CALL_ERROR = orOfUpstream('UpstreamError')
export const MESSAGES_ERROR = orOfUpstream('MessagesError')
export const GEMINI_ERROR = orOfUpstream('GeminiError')
