/** Every cell of the protocol matrix: an official client, the gateway, an upstream in its own wire form. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import {
  type Cell,
  cellId,
  CELLS,
  type Feature,
  matrixPage,
  PROTOCOLS,
  type Protocol,
} from '../matrix/cells.ts'
import { drivers, failureOf } from '../matrix/clients.ts'
import { type Driver, type Heard, PDF, PIXEL, RESULT } from '../matrix/question.ts'
import { COUNTS, refuses, type Said, says, SIGNATURE } from '../matrix/upstreams.ts'
import { withGateway } from '../gateway/with-gateway.ts'

/** Vendors whose models do all that their protocol can. */
const UPSTREAMS: Readonly<Record<Protocol, readonly [kind: string, forward: string, thinks: string]>> = {
  chat: ['openai', 'gpt-4.1', 'gpt-5.1'],
  responses: ['openai', 'gpt-4.1', 'gpt-5.1'],
  messages: ['anthropic', 'claude-opus-4-1', 'claude-opus-4-1'],
  gemini: ['google', 'gemini-2.5-flash', 'gemini-2.5-flash'],
}

let clients: Readonly<Record<Protocol, Driver>>

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('replays', upstream.url, { kind: 'deepseek' }),
    putModel('replays-chat'),
    putChain({ model: 'replays-chat', vendor: 'replays', protocol: 'chat', forward: 'deepseek-reasoner' }),
  ],
})

beforeAll(async () => {
  clients = drivers(gateway)
  for (const protocol of PROTOCOLS) {
    const [kind, forward, thinks] = UPSTREAMS[protocol]
    await gateway.catalogue(
      ...putVendor(protocol, upstream.url, { kind }),
      putModel(`plain-${protocol}`),
      putChain({ model: `plain-${protocol}`, vendor: protocol, protocol, forward }),
      putModel(`thinks-${protocol}`),
      putChain({ model: `thinks-${protocol}`, vendor: protocol, protocol, forward: thinks }),
    )
  }
  // Chat has no signatures; what it has is models that want their thoughts back.
})

afterEach(() => gateway.resetHealth())

interface Run {
  readonly cell: Cell
  readonly client: Driver
  readonly model: string
  readonly thinker: string
  /** What the upstream says next. */
  say(said: Said): void
  /** The last body it got. */
  body(): string
}

const WEATHER = { id: 'call_1', name: 'weather', input: { city: 'Oslo' } }
const AGAIN = { id: 'call_2', name: 'weather', input: { city: 'Rome' } }
const QUESTION = { text: 'How warm is it?' }

const RUNS: Readonly<Record<Feature, (run: Run) => Promise<void>>> = {
  async text({ client, model, say, cell }) {
    say({ text: 'Hello there' })
    expectAnswer(await client.ask(model, QUESTION), { text: 'Hello there', end: ENDS.stop[cell.client] })
  },
  async stream({ client, model, say, cell }) {
    say({ text: 'Hello there' })
    const heard = await client.stream(model, QUESTION)
    expectAnswer(heard, { text: 'Hello there', end: ENDS.stop[cell.client] })
    expect(heard.pieces).toBeGreaterThan(1)
  },
  async system({ client, model, say, body, cell }) {
    say({ text: 'ok' })
    await client.ask(model, { ...QUESTION, system: 'Answer in Norwegian.' })
    expect(SYSTEM_PLACES[cell.upstream](JSON.parse(body()))).toContain('Answer in Norwegian.')
  },
  async 'multi-turn'({ client, model, say, body, cell }) {
    say({ text: 'ok' })
    await client.ask(model, { ...QUESTION, before: { question: 'Is it day?', answer: 'Yes, it is.' } })
    const assistant = cell.upstream === 'gemini' ? 'model' : 'assistant'
    expect([...body().matchAll(/"role":"(\w+)"/g)].map(([, role]) => role)).toEqual([
      'user',
      assistant,
      'user',
    ])
    expect(body().indexOf('Is it day?')).toBeLessThan(body().indexOf('Yes, it is.'))
    expect(body().indexOf('Yes, it is.')).toBeLessThan(body().indexOf('How warm is it?'))
  },
  async tools({ client, model, say, body, cell }) {
    say({ calls: [WEATHER] })
    const heard = await client.ask(model, { ...QUESTION, tools: true })
    expect(heard.calls).toMatchObject([{ name: 'weather', input: { city: 'Oslo' } }])
    expect(heard.end).toBe(ENDS.call[cell.client])
    expect(body()).toContain('"name":"weather"')
    say({ text: 'It is 21 degrees.' })
    const then = await client.ask(model, { ...QUESTION, tools: true, previous: heard })
    expect(then.text).toBe('It is 21 degrees.')
    expect(body()).toContain(RESULT)
    expect(body()).toContain('Oslo')
  },
  async 'parallel tools'({ client, model, say, body, cell }) {
    say({ calls: [WEATHER, AGAIN] })
    const heard = await client.stream(model, { ...QUESTION, tools: true })
    expect(heard.calls.map(({ input }) => input)).toEqual([WEATHER.input, AGAIN.input])
    expect(heard.end).toBe(ENDS.call[cell.client])
    say({ text: 'ok' })
    await client.ask(model, { ...QUESTION, tools: true, previous: heard })
    expect(body().split(RESULT)).toHaveLength(3)
  },
  async 'tool results with images'({ client, model, say, body }) {
    say({ calls: [WEATHER] })
    const heard = await client.ask(model, { ...QUESTION, tools: true })
    say({ text: 'I see.' })
    const then = await client.ask(model, { ...QUESTION, tools: true, previous: heard, pictureResult: true })
    expect(then.text).toBe('I see.')
    expect(body()).toContain(PIXEL)
  },
  async images({ client, model, say, body, cell }) {
    say({ text: 'a pixel' })
    expectAnswer(await client.ask(model, { ...QUESTION, image: true }), {
      text: 'a pixel',
      end: ENDS.stop[cell.client],
    })
    expect(body()).toContain(PIXEL)
  },
  async files({ client, model, say, body, cell }) {
    say({ text: 'a paper' })
    expectAnswer(await client.ask(model, { ...QUESTION, file: true }), {
      text: 'a paper',
      end: ENDS.stop[cell.client],
    })
    expect(body()).toContain(PDF)
    expect(body()).toContain('application/pdf')
  },
  async reasoning({ client, thinker, say, body }) {
    for (const how of ['ask', 'stream'] as const) {
      say({ thought: 'It is winter.', text: 'Cold.' })
      const heard = await client[how](thinker, { ...QUESTION, effort: true })
      expect([heard.thought, heard.text]).toEqual(['It is winter.', 'Cold.'])
      expect(body()).toMatch(/reasoning|thinking/)
    }
  },
  async 'reasoning round trip'({ client, thinker, say, body, cell }) {
    const model = cell.upstream === 'chat' ? 'replays-chat' : thinker
    say({ thought: 'I have to look.', calls: [WEATHER] })
    const heard = await client.stream(model, { ...QUESTION, tools: true, effort: true })
    say({ text: 'ok' })
    await client.ask(model, { ...QUESTION, tools: true, effort: true, previous: heard })
    expect(body()).toContain(cell.upstream === 'chat' ? '"reasoning_content":"I have to look."' : SIGNATURE)
  },
  async 'JSON mode'({ client, model, say, body }) {
    say({ text: '{"a":1}' })
    const heard = await client.ask(model, { ...QUESTION, json: 'mode' })
    expect(JSON.parse(heard.text)).toEqual({ a: 1 })
    expect(body()).toMatch(/json/i)
  },
  async 'JSON schema'({ client, model, say, body, cell }) {
    say({ text: '{"celsius":21}' })
    const heard = await client.ask(model, { ...QUESTION, json: 'schema' })
    expect(JSON.parse(heard.text)).toEqual({ celsius: 21 })
    expect(JSON.stringify(SCHEMA_PLACES[cell.upstream](JSON.parse(body())))).toContain('celsius')
  },
  async stop({ client, model, say, body, cell }) {
    const cuts = cell.upstream === 'responses'
    for (const how of ['ask', 'stream'] as const) {
      say(cuts ? { text: 'Hello END never' } : { text: 'Hello ', end: 'stop-sequence' })
      const heard = await client[how](model, { ...QUESTION, stop: ['END', 'HALT'] })
      expect(heard.text).toBe('Hello ')
      if (!cuts) expect(body()).toContain('["END","HALT"]')
      const tells = cell.client === 'messages' && (cuts || cell.upstream === 'messages')
      expect(heard.end).toBe(tells ? 'stop_sequence' : ENDS.stop[cell.client])
    }
  },
  async length({ client, model, say, cell }) {
    for (const how of ['ask', 'stream'] as const) {
      say({ text: 'Once upon', end: 'length' })
      const heard = await client[how](model, { ...QUESTION, maxTokens: 20 })
      expectAnswer(heard, { text: 'Once upon', end: ENDS.length[cell.client] })
    }
  },
  async refusal({ client, model, say }) {
    for (const how of ['ask', 'stream'] as const) {
      say({ text: 'I will not.', end: 'refusal' })
      const heard = await client[how](model, QUESTION)
      expect(heard.refused).toBe(true)
    }
  },
  async 'usage with cache'({ client, model, say }) {
    for (const how of ['ask', 'stream'] as const) {
      say({ text: 'ok', cached: true })
      const heard = await client[how](model, QUESTION)
      expect(heard.usage).toEqual(COUNTS)
    }
  },
  async errors({ client, model, cell }) {
    for (const how of ['ask', 'stream'] as const) {
      upstream.script(refuses(cell.upstream, 422, 'the moon is full'))
      const failure = failureOf(await client[how](model, QUESTION).catch((error: unknown) => error))
      expect(failure.status).toBe(422)
      expect(failure.message).toContain('the moon is full')
    }
  },
  async 'mid-stream error'({ client, model, say }) {
    say({ text: 'Hello there', error: 'the moon is full' })
    const failure = failureOf(await client.stream(model, QUESTION).catch((error: unknown) => error))
    expect(failure.message).toContain('the moon is full')
  },
}

const ENDS: Readonly<Record<'stop' | 'call' | 'length', Readonly<Record<Protocol, string>>>> = {
  stop: { chat: 'stop', responses: 'completed', messages: 'end_turn', gemini: 'STOP' },
  call: { chat: 'tool_calls', responses: 'completed', messages: 'tool_use', gemini: 'STOP' },
  length: { chat: 'length', responses: 'max_output_tokens', messages: 'max_tokens', gemini: 'MAX_TOKENS' },
}

type Body = Readonly<Record<string, unknown>>
type Place = (body: Body & { readonly messages?: readonly { readonly role: string }[] }) => string

const text = (value: unknown): string => JSON.stringify(value) ?? ''

const SYSTEM_PLACES: Readonly<Record<Protocol, Place>> = {
  chat: ({ messages = [] }) => text(messages.filter(({ role }) => role === 'system' || role === 'developer')),
  responses: ({ instructions, input }) => text(instructions) + text(input),
  messages: ({ system }) => text(system),
  gemini: ({ systemInstruction }) => text(systemInstruction),
}

const SCHEMA_PLACES: Readonly<Record<Protocol, Place>> = {
  chat: ({ response_format }) => text(response_format),
  responses: ({ text: settings }) => text(settings),
  messages: ({ output_config, tools }) => text([output_config, tools]),
  gemini: ({ generationConfig }) => text(generationConfig),
}

function expectAnswer(heard: Heard, wanted: { readonly text: string; readonly end: string }): void {
  expect([heard.text, heard.end]).toEqual([wanted.text, wanted.end])
}

const ran = new Set<string>()

describe('the protocol matrix', () => {
  for (const cell of CELLS.filter(({ reason }) => reason === undefined)) {
    test(cellId(cell), async () => {
      upstream.requests.length = 0
      await RUNS[cell.feature]({
        cell,
        client: clients[cell.client],
        model: `plain-${cell.upstream}`,
        thinker: `thinks-${cell.upstream}`,
        say: (said) => upstream.script(says(cell.upstream, said)),
        body: () => upstream.requests.at(-1)?.body.toString('utf8') ?? '',
      })
      ran.add(cellId(cell))
    })
  }

  test('the page is green where a test ran, and nowhere else', () => {
    const green = CELLS.filter(({ reason }) => reason === undefined).map(cellId)
    expect(green.filter((id) => !ran.has(id))).toEqual([])
    const page = join(import.meta.dirname, '../../../docs/reference/protocol-matrix.md')
    expect(existsSync(page) && readFileSync(page, 'utf8')).toBe(matrixPage())
  })
})
