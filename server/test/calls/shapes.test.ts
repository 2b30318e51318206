/**
 * Objects of one kind have one hidden class. One whose literal begins with a spread and goes on with new fields gets another
 * each time on Node 20: it costs microseconds to make, and more to read (docs/performance.md#for-who-changes-the-code).
 */
import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'
import { expect, test } from 'vitest'
import { exampleReserve, exampleStore, KEY, MODEL } from '../../src/core/calls/examples.ts'
import { callId } from '../../src/core/ids.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { protocolOf } from '../../src/core/protocols/index.ts'
import type { LoggedCall } from '../../src/pipeline/call.ts'
import type { EndpointKind } from '../../src/pipeline/kinds/kind.ts'
import { reserve, type Reservable } from '../../src/pipeline/stages/reserve.ts'
import { baseLogRow } from '../../src/pipeline/stages/log-row.ts'

setFlagsFromString('--allow-natives-syntax')
const haveOneShape = runInThisContext('(one, other) => %HaveSameMap(one, other)') as (
  one: object,
  other: object,
) => boolean

const CALL: LoggedCall = {
  callId: callId('a'),
  requestId: 'a',
  at: 1_000,
  endpoint: { path: '/v1/chat/completions', protocol: 'chat' },
  headers: {},
}

const MESSAGES = [{ role: 'user', content: 'hi' }]
const REQUESTS: Readonly<Record<'chat' | 'messages' | 'responses' | 'gemini', JsonObject>> = {
  chat: { model: 'm', messages: MESSAGES },
  messages: { model: 'm', max_tokens: 5, messages: MESSAGES },
  responses: { model: 'm', input: 'hi' },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
}

function decoded(protocol: keyof typeof REQUESTS): object {
  const request = protocolOf(protocol).decodeRequest(REQUESTS[protocol])
  if (request.kind !== 'decoded') throw new Error(`${protocol}: ${JSON.stringify(request)}`)
  return request.value
}

const ASKED = exampleReserve('a')
/** As the server makes a call: by a literal. */
function reservable(): Reservable {
  const { callId: id, requestId, at, endpoint, headers } = CALL
  return {
    stage: 'admitted',
    callId: id,
    requestId,
    at,
    endpoint,
    headers,
    modelId: MODEL,
    key: { id: KEY },
    account: {},
    model: { chains: [] },
    catalogue: { settings: { limits: ASKED.defaultPolicy } },
    demand: ASKED.model,
  } as unknown as Reservable
}

/** Through the stage itself; the store answers as one in memory does. */
async function reserved(): Promise<object> {
  const [outcome] = exampleStore().run(ASKED)
  const pipeline = {
    monthOf: () => ({ from: 0, until: 1 }),
    storage: { calls: { reserve: () => Promise.resolve(outcome) } },
  } as unknown as Parameters<typeof reserve>[0]
  return reserve(pipeline, reservable(), { counts: () => ({}) } as unknown as EndpointKind)
}

/** V8 begins to cache how a literal is made when it has been run some eight times. */
const BEFORE_CACHING = 100

test.each<[string, () => object | Promise<object>]>([
  ['rows of the call log', () => baseLogRow(CALL, 2_000, { httpStatus: 200, images: 1 })],
  ['requests in chat', () => decoded('chat')],
  ['requests in messages', () => decoded('messages')],
  ['requests in responses', () => decoded('responses')],
  ['requests in Gemini’s form', () => decoded('gemini')],
  ['reserved calls', reserved],
])('%s are of one hidden class', async (_what, make) => {
  for (let made = 0; made < BEFORE_CACHING; made += 1) await make()
  expect(haveOneShape(await make(), await make())).toBe(true)
})
