/**
 * What a running gateway answers to calls is as the document says, tightly: whole and as events, counted, stored, made in the
 * background, videos, listings, and errors in the form of each protocol, its own and those of upstreams.
 */
import { describe, expect, test } from 'vitest'
import { AnswerSchemas } from '../../../../test/gateway/answer-schemas.ts'
import { putChain, putModel, putVendor } from '../../../../test/gateway/gateway.ts'
import { answerJson } from '../../../../test/gateway/scripted-upstream.ts'
import { differentShapes, expectTight, type SeenAnswer } from '../../../../test/gateway/tightness.ts'
import { VIDEO_PRICES } from '../../../../test/gateway/videos.ts'
import { parseJson } from '../../../core/canonical/json-text.ts'
import { PROTOCOL_IDS, type ProtocolId } from '../../../core/catalogue.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.ts'
import { sseEvents } from '../../../core/protocols/testing/laws.ts'
import { withGateway } from '../../../../test/gateway/with-gateway.ts'

const schemas = new AnswerSchemas()
const KINDS: Readonly<Record<ProtocolId, string>> = {
  chat: 'openai',
  responses: 'openai',
  messages: 'anthropic',
  gemini: 'google',
}

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('sandbox', 'http://sandbox.invalid', { kind: 'sandbox' }),
    ...PROTOCOL_IDS.flatMap((protocol) => [
      ...putVendor(`of-${protocol}`, upstream.url, { kind: KINDS[protocol] }),
      putModel(`only-${protocol}`),
      putChain({ model: `only-${protocol}`, vendor: `of-${protocol}`, protocol }),
      putModel(`made-${protocol}`),
      putChain({ model: `made-${protocol}`, vendor: 'sandbox', protocol, forward: 'sandbox-reasoning' }),
    ]),
    putModel('clip', { supportFeatures: ['video'], pricing: VIDEO_PRICES }),
    putChain({ model: 'clip', vendor: 'sandbox', protocol: 'video', forward: 'sandbox-video' }),
  ],
})

interface Question {
  readonly method: string
  /** As the document writes it. */
  readonly path: string
  readonly id?: string
  readonly query?: string
  readonly body?: JsonObject
  readonly headers?: Readonly<Record<string, string>>
}

interface Told {
  readonly seen: readonly SeenAnswer[]
  readonly status: number
  readonly body: JsonObject
}

async function ask({ method, path, id = '', query = '', body, headers }: Question): Promise<Told> {
  const response = await fetch(gateway.baseUrl + path.replace(/\{\w+\}/, id) + query, {
    method,
    headers: {
      authorization: `Bearer ${gateway.key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const [mediaType = ''] = (response.headers.get('content-type') ?? '').split(';')
  const { status } = response
  const from = `${method} ${path} ${status} ${mediaType}${query}`
  const schema = schemas.of({ method, path, status, mediaType })
  if (schema === undefined) throw new Error(`the document does not describe ${from}`)
  const text = await response.text()
  const values = mediaType === 'text/event-stream' ? eventsIn(text) : [parseJson(text) ?? null]
  const [first] = values
  return {
    status,
    body: isJsonObject(first) ? first : {},
    seen: values.map((value) => ({ schema, value, from: `${from} ${id}` })),
  }
}

const eventsIn = (text: string): readonly JsonValue[] =>
  sseEvents(text).flatMap(({ data }) => parseJson(data) ?? [])

function idOf({ body }: Told): string {
  const { id } = body
  if (typeof id !== 'string') throw new Error(`no id: ${JSON.stringify(body)}`)
  return id
}

/** One question in the words of each protocol. */
function question(protocol: ProtocolId, model: string, stream: boolean): Question {
  const messages = [{ role: 'user', content: 'How high is the tide?' }]
  switch (protocol) {
    case 'chat': {
      const usage = stream ? { stream_options: { include_usage: true } } : {}
      return { method: 'POST', path: '/v1/chat/completions', body: { model, messages, stream, ...usage } }
    }
    case 'responses':
      return { method: 'POST', path: '/v1/responses', body: { model, input: 'How high is it?', stream } }
    case 'messages':
      return { method: 'POST', path: '/v1/messages', body: { model, messages, stream, max_tokens: 200 } }
    case 'gemini': {
      const path = `/v1beta/models/{model}:${stream ? 'streamGenerateContent' : 'generateContent'}`
      const query = stream ? '?alt=sse' : ''
      const contents = [{ role: 'user', parts: [{ text: 'How high is the tide?' }] }]
      return { method: 'POST', path, id: model, query, body: { contents } }
    }
  }
}

function expectAsDescribed(group: string, answers: readonly SeenAnswer[]): void {
  const faults = answers.flatMap(({ schema, value, from }) => {
    const found = schema.faults(value)
    return found.length === 0 ? [] : [`${from}: ${found.slice(0, 3).join('; ')}`]
  })
  expect(faults).toEqual([])
  expectTight(group, differentShapes(answers))
}

/** In turn: calls of one account are few at once. */
async function askAll(questions: readonly Question[], status?: number): Promise<readonly SeenAnswer[]> {
  const seen: SeenAnswer[] = []
  for (const one of questions) {
    const told = await ask(one)
    if (status !== undefined) expect(told.status, JSON.stringify(told.body)).toBe(status)
    seen.push(...told.seen)
  }
  return seen
}

describe.each(PROTOCOL_IDS)('served answers of %s', (protocol) => {
  test.each([
    ['whole', false],
    ['stream', true],
  ])('%s, over every upstream protocol', async (form, stream) => {
    const questions = PROTOCOL_IDS.map((other) => question(protocol, `made-${other}`, stream))
    expectAsDescribed(`served ${protocol}, ${form}`, await askAll(questions, 200))
  })

  test('errors, the gateway’s own and those of every upstream protocol', async () => {
    const seen: SeenAnswer[] = []
    for (const other of PROTOCOL_IDS) {
      for (const [status, body] of errorsOf(other)) {
        upstream.answer(answerJson(body, status))
        seen.push(...(await ask(question(protocol, `only-${other}`, false))).seen)
        await gateway.resetHealth()
      }
    }
    const own = question(protocol, 'nobody', false)
    seen.push(...(await askAll([own, { ...own, headers: { authorization: 'Bearer sk-gateway-nobody' } }])))
    expectAsDescribed(`errors told to ${protocol}`, seen)
  })
})

test('an error in a form that nobody can know beforehand is described as one', async () => {
  upstream.answer(answerJson({ Code: 'Refused', Words: ['no'] }, 422))
  const { seen } = await ask(question('chat', 'only-chat', false))
  expect(seen.map(({ schema, value }) => schema.faults(value))).toEqual([[]])
  expect(schemas.named('ForeignError').accepts({ Code: 'Refused', Words: ['no'] })).toBe(true)
  expect(schemas.named('ForeignError').accepts({ error: { message: 'known' } })).toBe(false)
})

function errorsOf(protocol: ProtocolId): readonly (readonly [status: number, body: JsonObject])[] {
  const message = 'this field is not taken'
  const alike: JsonObject = { detail: 'nobody knows this field' }
  switch (protocol) {
    case 'chat':
    case 'responses': {
      const error = { message, type: 'invalid_request_error', param: 'top_k', code: null }
      return [
        [400, { error }],
        [500, { error: { ...error, type: 'server_error' } }],
        [422, alike],
      ]
    }
    case 'messages':
      return [
        [400, { type: 'error', error: { type: 'invalid_request_error', message }, request_id: 'req_1' }],
        [529, { type: 'error', error: { type: 'overloaded_error', message } }],
        [422, alike],
      ]
    case 'gemini':
      return [
        [400, { error: { code: 400, message, status: 'INVALID_ARGUMENT', details: [{ reason: 'none' }] } }],
        [503, { error: { code: 503, message, status: 'UNAVAILABLE' } }],
        [422, alike],
      ]
  }
}

test('served counts, in every protocol', async () => {
  const { body: chat } = question('messages', 'made-chat', false)
  const { body: gemini } = question('gemini', 'made-chat', false)
  const questions: Question[] = [
    {
      method: 'POST',
      path: '/v1/messages/count_tokens',
      body: { model: 'made-chat', messages: chat?.['messages'] ?? [] },
    },
    { method: 'POST', path: '/v1/responses/input_tokens', body: { model: 'made-chat', input: 'How high?' } },
    { method: 'POST', path: '/v1beta/models/{model}:countTokens', id: 'made-chat', body: gemini ?? {} },
  ]
  expectAsDescribed('served counts', await askAll(questions, 200))
})

test('stored responses, from their answer to their end', async () => {
  const made = await ask(question('responses', 'made-chat', false))
  const id = idOf(made)
  const path = '/v1/responses/{response_id}'
  const later = await askAll(
    [
      { method: 'GET', path, id },
      { method: 'GET', path: `${path}/input_items`, id },
      { method: 'DELETE', path, id },
    ],
    200,
  )
  const gone = await askAll([{ method: 'GET', path, id }], 404)
  expectAsDescribed('stored responses', [...made.seen, ...later, ...gone])
})

test('video tasks, from their order to their end', async () => {
  const order: Question = {
    method: 'POST',
    path: '/v1/videos',
    body: { model: 'clip', prompt: 'a cat', seconds: '2' },
  }
  const begun = await ask({ ...order, headers: { prefer: 'respond-async' } })
  expect(begun.status).toBe(202)
  const made = await ask(order)
  const id = idOf(made)
  const chat = { method: 'POST', path: '/v1/chat/completions' }
  const messages = [{ role: 'user', content: 'a cat' }]
  const later = await askAll(
    [
      { method: 'GET', path: '/v1/videos' },
      { method: 'GET', path: '/v1/videos/{video_id}', id },
      { ...chat, body: { model: 'clip', messages } },
      { ...chat, body: { model: 'clip', messages, stream: true } },
      { method: 'DELETE', path: '/v1/videos/{video_id}', id },
    ],
    200,
  )
  const gone = await askAll([{ method: 'GET', path: '/v1/videos/{video_id}', id }], 404)
  expectAsDescribed('video tasks', [...begun.seen, ...made.seen, ...later, ...gone])
})

test('listings of models, in every form', async () => {
  const anthropic = { 'anthropic-version': '2023-06-01' }
  const questions: Question[] = [
    { method: 'GET', path: '/v1/models' },
    { method: 'GET', path: '/v1/models', headers: anthropic },
    { method: 'GET', path: '/v1/models/{path}', id: 'made-chat' },
    { method: 'GET', path: '/v1/models/{path}', id: 'made-chat', headers: anthropic },
    { method: 'GET', path: '/v1beta/models' },
    { method: 'GET', path: '/v1beta/models/{path}', id: 'made-chat' },
  ]
  expectAsDescribed('listings of models', await askAll(questions, 200))
})
