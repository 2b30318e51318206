/**
 * Answers of calls are as the document says, and the document says it tightly: recorded ones as they are passed on, what the
 * encoders make of them for clients of the other protocols, and what a running gateway answers.
 */
import { describe, expect, test } from 'vitest'
import { AnswerSchemas } from '../../../../test/gateway/answer-schemas.ts'
import { differentShapes, expectTight, type SeenAnswer } from '../../../../test/gateway/tightness.ts'
import { findRecordings, type Recording } from '../../../../test/recordings.ts'
import { foldStream, unfoldResponse } from '../../../core/canonical/fold.ts'
import { parseJson } from '../../../core/canonical/json-text.ts'
import type { CanonicalRequest } from '../../../core/canonical/request.ts'
import type { CanonicalResponse } from '../../../core/canonical/response.ts'
import { PROTOCOL_IDS, type ProtocolId } from '../../../core/catalogue.ts'
import { isJsonObject, type JsonValue } from '../../../core/json.ts'
import { protocolOf } from '../../../core/protocols/index.ts'
import {
  decodeStream,
  encodeStream,
  PLAIN_REQUEST,
  replyContext,
  sseEvents,
} from '../../../core/protocols/testing/laws.ts'
import { objectOf } from '../../../core/protocols/read-json.ts'

const schemas = new AnswerSchemas()

const PATHS: Readonly<Record<ProtocolId, { readonly whole: string; readonly stream: string }>> = {
  chat: { whole: '/v1/chat/completions', stream: '/v1/chat/completions' },
  responses: { whole: '/v1/responses', stream: '/v1/responses' },
  messages: { whole: '/v1/messages', stream: '/v1/messages' },
  gemini: {
    whole: '/v1beta/models/{model}:generateContent',
    stream: '/v1beta/models/{model}:streamGenerateContent',
  },
}

type Form = 'whole' | 'stream'

function schemaOf(protocol: ProtocolId, form: Form) {
  const mediaType = form === 'whole' ? 'application/json' : 'text/event-stream'
  const schema = schemas.of({ method: 'POST', path: PATHS[protocol][form], status: 200, mediaType })
  if (schema === undefined) throw new Error(`the document does not describe ${protocol} ${form}`)
  return schema
}

/** A client that wants to see everything. */
const ASKED: CanonicalRequest = {
  ...PLAIN_REQUEST,
  includeUsage: true,
  reasoning: { effort: 'high', budgetTokens: undefined, expose: true, summary: 'auto' },
}

/** Some vendors speak chat where the others speak responses. */
function spokenIn(id: ProtocolId, first: JsonValue | undefined): ProtocolId {
  return objectOf(first)?.choices === undefined ? id : 'chat'
}

interface Recorded {
  readonly name: string
  readonly protocol: ProtocolId
  readonly form: Form
  readonly values: readonly JsonValue[]
  /** undefined: it is an error, or breaks off. */
  readonly canonical: CanonicalResponse | undefined
}

const recorded: readonly Recorded[] = PROTOCOL_IDS.flatMap((id) =>
  findRecordings(id).map((recording) => readRecorded(id, recording)),
)

function readRecorded(id: ProtocolId, recording: Recording): Recorded {
  const { name } = recording
  if (recording.kind === 'whole') {
    const { body } = recording
    const protocol = spokenIn(id, body)
    const canonical = isJsonObject(body) ? protocolOf(protocol).decodeResponse(body) : undefined
    const failed = canonical === undefined || canonical.failure !== undefined
    return { name, protocol, form: 'whole', values: [body], canonical: failed ? undefined : canonical }
  }
  const values = recording.events.flatMap(({ data }) => parseJson(data) ?? [])
  const protocol = spokenIn(id, values[0])
  const ended = protocol === 'chat' ? [{ event: '', data: '[DONE]' }] : []
  const parts = decodeStream(protocolOf(protocol), [...recording.events, ...ended])
  const canonical = parts.at(-1)?.type === 'end' ? foldStream(parts) : undefined
  return { name, protocol, form: 'stream', values, canonical }
}

/** A refusal with a status of its own. */
const isError = ({ form, values }: Recorded): boolean =>
  form === 'whole' && objectOf(values[0])?.error !== undefined && objectOf(values[0])?.error !== null

function passedOn(protocol: ProtocolId, form: Form): readonly SeenAnswer[] {
  const schema = schemaOf(protocol, form)
  return recorded
    .filter((one) => one.protocol === protocol && one.form === form && !isError(one))
    .flatMap(({ name, values }) => values.map((value) => ({ schema, value, from: name })))
}

function encoded(protocol: ProtocolId, form: Form): readonly SeenAnswer[] {
  const schema = schemaOf(protocol, form)
  return recorded.flatMap(({ name, canonical }) => {
    if (canonical === undefined) return []
    const from = `${name} told in ${protocol}`
    return told(protocol, form, canonical).map((value) => ({ schema, value, from }))
  })
}

function told(protocol: ProtocolId, form: Form, response: CanonicalResponse): readonly JsonValue[] {
  const codec = protocolOf(protocol)
  if (form === 'whole') return [codec.encodeResponse(response, replyContext(ASKED))]
  return sseEvents(encodeStream(codec, unfoldResponse(response), ASKED)).flatMap(
    ({ data }) => parseJson(data) ?? [],
  )
}

const SOURCES = { 'passed on': passedOn, encoded }

const CASES = PROTOCOL_IDS.flatMap((protocol) =>
  (['whole', 'stream'] as const).map((form) => [`${protocol}, ${form}`, protocol, form] as const),
)

function faultsOf(answers: readonly SeenAnswer[]): readonly string[] {
  return differentShapes(answers).flatMap(({ schema, value, from }) => {
    const faults = schema.faults(value)
    return faults.length === 0 ? [] : [`${from}: ${faults.slice(0, 3).join('; ')}`]
  })
}

describe.each(CASES)('answers of %s', (name, protocol, form) => {
  test.each(Object.entries(SOURCES))('%s are as the document says', (_source, answersOf) => {
    const answers = answersOf(protocol, form)
    expect(answers.length).toBeGreaterThan(5)
    expect(faultsOf(answers)).toEqual([])
  })

  test('spoilt at random are not, nine in ten times at least', () => {
    const answers = differentShapes([...passedOn(protocol, form), ...encoded(protocol, form)])
    expectTight(name, answers)
  })
})
