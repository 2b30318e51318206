/**
 * Large bodies share memory one after the other. Whatever vendors and clients do in the middle of one, no vendor receives
 * a byte of another client's body.
 */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { seededChance } from '../passthrough/test-kit.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { withGateway } from '../gateway/with-gateway.ts'

type Behaviour = (typeof BEHAVIOURS)[number] | 'ends its stream'
const BEHAVIOURS = [
  'answers',
  'answers slowly',
  'answers before it has read',
  'refuses before it has read',
  'breaks off',
  'fails',
] as const
/** More than the system takes of a body that is not read. */
const UNREAD_BYTES = 8_000_000
/** If each call is so slow that the gateway does not wait for its vendor any more, it is tried again. */
const TRIES_MAX = 30

const CALLS = 90
const CONCURRENT = 10
interface Sent {
  readonly name: string
  readonly body: Buffer
  readonly behaviours: Behaviour[]
}

/** What each call's client sent, and each vendor's behaviour towards it, the first time and the second. */
const sent = new Map<string, Sent>()
/** Calls of whose bodies a vendor received a byte that was not sent. */
const mixed: string[] = []
/** What the vendors do with their requests, until they have done it. */
const taken: Promise<void>[] = []
let received = 0
/** Goes on with reading the body of the stream that was answered first. */
let readOn = (): void => undefined
let readWhole = 0

const vendor = createServer((incoming, response) => {
  taken.push(take(incoming, response).catch(() => void incoming.socket.destroy()))
})
await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`
const { gateway } = await withGateway({
  catalogue: () => [
    ...putVendor('first', url, { kind: 'openai' }),
    ...putVendor('second', url, { kind: 'openai' }),
    putModel('large'),
    putChain({ model: 'large', vendor: 'first', protocol: 'chat', forward: 'large' }),
    putChain({ model: 'large', vendor: 'second', protocol: 'chat', forward: 'large', priority: 2 }),
  ],
})
afterAll(() => {
  vendor.closeAllConnections()
  vendor.close()
})

const ANSWER = JSON.stringify({
  id: 'a',
  object: 'chat.completion',
  model: 'large',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
})

const STREAM = [
  '{"id":"a","object":"chat.completion.chunk","model":"large","choices":[{"index":0,"delta":{"content":"ok"}}]}',
  '{"id":"a","object":"chat.completion.chunk","model":"large","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
  '[DONE]',
]
  .map((data) => `data: ${data}\n\n`)
  .join('')

async function take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  incoming.on('error', () => undefined)
  const answer = (status: number): void => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(status === 200 ? ANSWER : '{"error":{"message":"no"}}')
  }
  let call: Sent | undefined
  let behaviour: Behaviour = 'answers'
  let at = 0
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    const bytes = chunk as Buffer
    if (call === undefined) {
      call = sent.get(/call-\d+/.exec(bytes.toString('latin1'))?.[0] ?? '')
      if (call === undefined) {
        mixed.push(`a body that nobody sent: ${bytes.toString('latin1', 0, 100)}`)
        incoming.socket.destroy()
        return
      }
      behaviour = call.behaviours.shift() ?? 'answers'
      if (behaviour === 'answers before it has read') answer(200)
      if (behaviour === 'refuses before it has read') answer(413)
      if (behaviour === 'ends its stream') {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(STREAM)
        await new Promise<void>((resolve) => {
          readOn = resolve
        })
      }
    }
    if (!bytes.equals(call.body.subarray(at, at + bytes.byteLength))) mixed.push(`${call.name} at ${at}`)
    at += bytes.byteLength
    if (behaviour === 'breaks off' && at > call.body.byteLength / 3) {
      incoming.socket.destroy()
      return
    }
    if (behaviour === 'answers slowly') for (let turns = 0; turns < 20; turns++) await turn()
  }
  received += at
  if (behaviour === 'answers' || behaviour === 'answers slowly') answer(200)
  if (behaviour === 'fails') answer(500)
  if (behaviour !== 'ends its stream') return
  response.end()
  if (at === call?.body.byteLength) readWhole += 1
}

/** @returns the status; 0 for a client that leaves in the middle */
function send(body: Buffer, leaves: boolean): Promise<number> {
  return new Promise((resolve) => {
    const outgoing = httpRequest(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'application/json',
        'content-length': body.byteLength,
      },
    })
    outgoing.on('error', () => resolve(0))
    outgoing.on('response', (answer) => answer.on('end', () => resolve(answer.statusCode ?? 0)).resume())
    if (leaves) {
      outgoing.write(body.subarray(0, -1))
      outgoing.write(body.subarray(-1), () => outgoing.destroy())
    } else outgoing.end(body)
  })
}

test('every vendor receives the bytes of its own call, whatever vendors and clients do in between', async () => {
  const chance = seededChance(20_261_129)
  const statuses = new Map<number, number>()
  let next = 0
  const client = async (): Promise<void> => {
    for (let index = next++; index < CALLS; index = next++) {
      const name = `call-${index}`
      const content = `${name} `.repeat(12_000 + chance.below(90_000))
      const body = Buffer.from(JSON.stringify({ model: 'large', messages: [{ role: 'user', content }] }))
      sent.set(name, { name, body, behaviours: [chance.pick(BEHAVIOURS), chance.pick(BEHAVIOURS)] })
      const status = await send(body, chance.below(8) === 0)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      await gateway.resetHealth()
    }
  }
  const { bodyBlocks } = gateway.running.pipeline
  await Promise.all(Array.from({ length: CONCURRENT }, client))
  await gateway.settled()
  expect(mixed).toEqual([])
  expect(received).toBeGreaterThan(CALLS * 100_000)
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([0, 200]))
  expect(bodyBlocks.free, 'memory was used again').toBeGreaterThan(0)
})

test('a vendor that ends its stream first, and reads the request afterwards, receives nothing of a later one', async () => {
  const large = (name: string, behaviour: Behaviour): Buffer => {
    const content = `${name} `.repeat(UNREAD_BYTES / (name.length + 1))
    const stream = behaviour === 'ends its stream'
    const body = Buffer.from(
      JSON.stringify({ model: 'large', stream, messages: [{ role: 'user', content }] }),
    )
    sent.set(name, { name, body, behaviours: [behaviour] })
    return body
  }
  for (let tries = 0; tries < TRIES_MAX && readWhole === 0; tries++) {
    expect(await send(large(`call-${1_000 + tries}`, 'ends its stream'), false)).toBe(200)
    expect(await send(large(`call-${2_000 + tries}`, 'answers'), false)).toBe(200)
    readOn()
    await Promise.all(taken)
    await gateway.settled()
  }
  expect(mixed).toEqual([])
  expect(readWhole).toBeGreaterThan(0)
})
