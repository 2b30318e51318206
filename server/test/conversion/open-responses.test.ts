/**
 * The compliance cases of Open Responses, over every upstream protocol: the response object with all the fields it demands,
 * and every event of a stream in its shape and order (docs/protocols.md#responses-answers, #responses-streams). A
 * responses upstream is passed through untouched, so there the conversation is one kept here, which makes the gateway
 * write the answer.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { PROTOCOLS, type Protocol } from '../matrix/cells.ts'
import { PIXEL } from '../matrix/question.ts'
import { type Said, says } from '../matrix/upstreams.ts'
import { sseEvents } from '../../src/core/protocols/testing/laws.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const UPSTREAMS: Readonly<Record<Protocol, readonly [kind: string, forward: string]>> = {
  chat: ['openai', 'gpt-4.1'],
  responses: ['openai', 'gpt-4.1'],
  messages: ['anthropic', 'claude-opus-4-1'],
  gemini: ['google', 'gemini-2.5-flash'],
}

/** A response kept here, to be continued. */
let kept: string

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
})

beforeAll(async () => {
  for (const protocol of PROTOCOLS) {
    const [kind, forward] = UPSTREAMS[protocol]
    await gateway.catalogue(
      ...putVendor(protocol, upstream.url, { kind }),
      putModel(`over-${protocol}`),
      putChain({ model: `over-${protocol}`, vendor: protocol, protocol, forward }),
    )
  }
  upstream.script(says('chat', { text: 'before' }))
  kept = z.object({ id: z.string() }).parse(await create('chat', { input: 'before' })).id
})

const ITEM_STATUS = z.enum(['in_progress', 'completed', 'incomplete'])
const PART = z.union([
  z.object({
    type: z.literal('output_text'),
    text: z.string(),
    annotations: z.array(z.unknown()),
    logprobs: z.array(z.unknown()),
  }),
  z.object({ type: z.literal('refusal'), refusal: z.string() }),
])
const THOUGHT = z.object({ type: z.enum(['summary_text', 'reasoning_text']), text: z.string() })
const ITEM = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    id: z.string().startsWith('msg_'),
    status: ITEM_STATUS,
    role: z.literal('assistant'),
    content: z.array(PART),
  }),
  z.object({
    type: z.literal('function_call'),
    id: z.string().startsWith('fc_'),
    call_id: z.string().min(1),
    name: z.string().min(1),
    arguments: z.string(),
    status: ITEM_STATUS,
  }),
  z.object({
    type: z.literal('reasoning'),
    id: z.string().startsWith('rs_'),
    summary: z.array(THOUGHT),
    content: z.array(THOUGHT).optional(),
  }),
])
const RESPONSE = z.object({
  id: z.string().startsWith('resp_'),
  object: z.literal('response'),
  created_at: z.int(),
  completed_at: z.int().nullable(),
  status: z.enum(['completed', 'failed', 'in_progress', 'incomplete']),
  incomplete_details: z.object({ reason: z.string() }).nullable(),
  model: z.string(),
  previous_response_id: z.string().nullable(),
  instructions: z.string().nullable(),
  output: z.array(ITEM),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  tools: z.array(
    z.object({
      type: z.literal('function'),
      name: z.string(),
      description: z.string().nullable(),
      parameters: z.record(z.string(), z.unknown()).nullable(),
      strict: z.boolean().nullable(),
    }),
  ),
  tool_choice: z.union([z.enum(['auto', 'none', 'required']), z.object({ type: z.string() })]),
  truncation: z.enum(['auto', 'disabled']),
  parallel_tool_calls: z.boolean(),
  text: z.object({ format: z.object({ type: z.string() }) }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.int(),
  temperature: z.number(),
  reasoning: z.object({ effort: z.string().nullable(), summary: z.string().nullable() }).nullable(),
  user: z.string().nullable(),
  usage: z
    .object({
      input_tokens: z.int(),
      input_tokens_details: z.object({ cached_tokens: z.int() }),
      output_tokens: z.int(),
      output_tokens_details: z.object({ reasoning_tokens: z.int() }),
      total_tokens: z.int(),
    })
    .nullable(),
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.int().nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: z.string(),
  metadata: z.record(z.string(), z.unknown()),
  safety_identifier: z.string().nullable(),
  prompt_cache_key: z.string().nullable(),
})

const at = { sequence_number: z.int(), output_index: z.int() }
const inPart = { ...at, item_id: z.string(), content_index: z.int() }
const inSummary = { ...at, item_id: z.string(), summary_index: z.int() }
const whole = <Type extends string>(type: Type) =>
  z.object({ type: z.literal(type), sequence_number: z.int(), response: RESPONSE })
const EVENT = z.discriminatedUnion('type', [
  whole('response.created'),
  whole('response.in_progress'),
  whole('response.completed'),
  whole('response.incomplete'),
  whole('response.failed'),
  z.object({ type: z.literal('response.output_item.added'), ...at, item: ITEM }),
  z.object({ type: z.literal('response.output_item.done'), ...at, item: ITEM }),
  z.object({ type: z.literal('response.content_part.added'), ...inPart, part: z.union([PART, THOUGHT]) }),
  z.object({ type: z.literal('response.content_part.done'), ...inPart, part: z.union([PART, THOUGHT]) }),
  z.object({
    type: z.literal('response.output_text.delta'),
    ...inPart,
    delta: z.string(),
    logprobs: z.array(z.unknown()),
  }),
  z.object({
    type: z.literal('response.output_text.done'),
    ...inPart,
    text: z.string(),
    logprobs: z.array(z.unknown()),
  }),
  z.object({ type: z.literal('response.refusal.delta'), ...inPart, delta: z.string() }),
  z.object({ type: z.literal('response.refusal.done'), ...inPart, refusal: z.string() }),
  z.object({
    type: z.literal('response.function_call_arguments.delta'),
    ...at,
    item_id: z.string(),
    delta: z.string(),
  }),
  z.object({
    type: z.literal('response.function_call_arguments.done'),
    ...at,
    item_id: z.string(),
    arguments: z.string(),
  }),
  z.object({ type: z.literal('response.reasoning_summary_part.added'), ...inSummary, part: THOUGHT }),
  z.object({ type: z.literal('response.reasoning_summary_part.done'), ...inSummary, part: THOUGHT }),
  z.object({ type: z.literal('response.reasoning_summary_text.delta'), ...inSummary, delta: z.string() }),
  z.object({ type: z.literal('response.reasoning_summary_text.done'), ...inSummary, text: z.string() }),
  z.object({ type: z.literal('response.reasoning_text.delta'), ...inPart, delta: z.string() }),
  z.object({ type: z.literal('response.reasoning_text.done'), ...inPart, text: z.string() }),
  z.object({
    type: z.literal('error'),
    sequence_number: z.int(),
    error: z.object({
      type: z.string(),
      code: z.string().nullable(),
      message: z.string(),
      param: z.string().nullable(),
    }),
  }),
])

async function create(over: Protocol, body: object): Promise<unknown> {
  const answer = await postJson(
    `${gateway.baseUrl}/v1/responses`,
    { model: `over-${over}`, ...(over === 'responses' ? { previous_response_id: kept } : {}), ...body },
    { authorization: `Bearer ${gateway.key}` },
  )
  expect(answer.status).toBe(200)
  return 'stream' in body ? answer.text : answer.body
}

const TOOL = {
  type: 'function',
  name: 'weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
}
const PICTURE = { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}` }
const CALL = { id: 'call_1', name: 'weather', input: { city: 'Oslo' } }

const CASES: readonly {
  readonly what: string
  readonly body: object
  readonly said: Said
  readonly items: readonly string[]
}[] = [
  {
    what: 'a basic text',
    body: { input: [{ type: 'message', role: 'user', content: 'Say hello.' }] },
    said: { text: 'Hello there' },
    items: ['message'],
  },
  {
    what: 'a system message in the input',
    body: {
      input: [
        { type: 'message', role: 'system', content: 'Be a pirate.' },
        { type: 'message', role: 'user', content: 'Hi' },
      ],
    },
    said: { text: 'Arr' },
    items: ['message'],
  },
  {
    what: 'a tool call',
    body: { input: 'How warm is it?', tools: [TOOL] },
    said: { calls: [CALL] },
    items: ['function_call'],
  },
  {
    what: 'a picture in the input',
    body: {
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'What is it?' }, PICTURE] },
      ],
    },
    said: { text: 'A pixel' },
    items: ['message'],
  },
  {
    what: 'several turns',
    body: {
      input: [
        { type: 'message', role: 'user', content: 'I am Ada.' },
        { type: 'message', role: 'assistant', content: 'Hello Ada.' },
        { type: 'message', role: 'user', content: 'Who am I?' },
      ],
    },
    said: { text: 'Ada' },
    items: ['message'],
  },
  {
    what: 'reasoning, words and two calls',
    body: { input: 'Look twice.', tools: [TOOL], reasoning: { effort: 'low', summary: 'auto' } },
    said: { thought: 'Hm.', text: 'I look.', calls: [CALL, { ...CALL, id: 'call_2' }] },
    items: ['reasoning', 'message', 'function_call', 'function_call'],
  },
  {
    what: 'a limit',
    body: { input: 'Tell all.', max_output_tokens: 20 },
    said: { text: 'Once', end: 'length' },
    items: ['message'],
  },
]
const CELLS = PROTOCOLS.flatMap((over) => CASES.map((one) => ({ over, ...one })))

describe('Open Responses', () => {
  test.each(CELLS)('over $over: $what, whole', async ({ over, body, said, items }) => {
    upstream.script(says(over, said))
    const response = RESPONSE.parse(await create(over, body))
    expect(told(response.output)).toEqual(items)
    expect(response.status).toBe(said.end === 'length' ? 'incomplete' : 'completed')
  })

  test.each(CELLS)('over $over: $what, streamed', async ({ over, body, said, items }) => {
    upstream.script(says(over, said))
    const events = eventsOf(await create(over, { ...body, stream: true }))
    expectOrder(events)
    const last = events.at(-1)
    expect(last?.type).toBe(said.end === 'length' ? 'response.incomplete' : 'response.completed')
    expect(last !== undefined && 'response' in last && told(last.response.output)).toEqual(items)
  })

  test.each(PROTOCOLS)('over %s: a failure is an error and a failed response', async (over) => {
    upstream.script(says(over, { text: 'Hello there', error: 'broken' }))
    const events = eventsOf(await create(over, { input: 'Hi', stream: true }), 'failed')
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['error', 'response.failed'])
    await gateway.resetHealth()
  })
})

/** A signature that hangs on a call travels in a reasoning item without words. */
function told(output: z.output<typeof RESPONSE>['output']): readonly string[] {
  return output
    .filter((item) => item.type !== 'reasoning' || item.summary.length + (item.content ?? []).length > 0)
    .map(({ type }) => type)
}

type Event = z.output<typeof EVENT>

function eventsOf(text: unknown, end: 'done' | 'failed' = 'done'): readonly Event[] {
  const framed = sseEvents(z.string().parse(text))
  if (end === 'done') expect(framed.at(-1)?.data).toBe('[DONE]')
  const events = framed.filter(({ data }) => data !== '[DONE]')
  return events.map(({ event, data }) => {
    const parsed = EVENT.parse(JSON.parse(data))
    expect(event).toBe(parsed.type)
    return parsed
  })
}

/** Numbers rise by one, one id, every item opens and closes in its place, every part inside its item. */
function expectOrder(events: readonly Event[]): void {
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index))
  expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['response.created', 'response.in_progress'])
  expect(new Set(events.flatMap((event) => ('response' in event ? [event.response.id] : []))).size).toBe(1)
  const open = new Map<number, string>()
  const parts = new Set<string>()
  for (const event of events) {
    if (event.type === 'response.output_item.added') {
      expect(event.output_index).toBe(open.size)
      open.set(event.output_index, event.item.id)
    }
    if ('item_id' in event) expect(event.item_id).toBe(open.get(event.output_index))
    if (event.type === 'response.content_part.added')
      parts.add(`${event.output_index}.${event.content_index}`)
    if (event.type === 'response.output_text.delta')
      expect(parts).toContain(`${event.output_index}.${event.content_index}`)
    if (event.type === 'response.output_item.done') expect(event.item.id).toBe(open.get(event.output_index))
  }
}
