/** Slow readers, counting tokens, and what reaches the structured log. */
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { streamed } from '../gateway/answers.ts'
import { postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson } from '../gateway/scripted-upstream.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url, { timeouts: { firstByteMs: 20_000, idleMs: 20_000 } }),
    ...putVendor('clay', upstream.url, { kind: 'anthropic' }),
    ...putVendor('goo', upstream.url, { kind: 'google' }),
    putModel('chat-model'),
    putChain({ model: 'chat-model', vendor: 'acme' }),
    putModel('messages-model'),
    putChain({ model: 'messages-model', vendor: 'clay', protocol: 'messages', forward: 'claude-x' }),
    putModel('gemini-model'),
    putChain({ model: 'gemini-model', vendor: 'goo', protocol: 'gemini', forward: 'gemini-x' }),
  ],
})

const authorized = (): Record<string, string> => ({ authorization: `Bearer ${gateway.key}` })

/** Client, gateway and upstream share this event loop: what has not moved in so many turns of it does not move. */
const TURNS_OF_QUIET = 500

test('a client that stops reading stops the upstream: memory stays bounded, and the rest comes when it reads on', async () => {
  const CHUNKS = 20_000
  const chunk = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta: { content: 'x'.repeat(2_000) } }] })}\n\n`
  let sent = 0
  let stalled: (() => void) | undefined
  const hasStalled = new Promise<void>((resolve) => (stalled = resolve))
  upstream.answer(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (; sent < CHUNKS; sent += 1) {
      if (response.write(chunk)) continue
      let isDrained = false
      const drained = once(response, 'drain').then(() => (isDrained = true))
      for (let turns = 0; turns < TURNS_OF_QUIET && !isDrained; turns += 1) await turn()
      if (!isDrained) stalled?.()
      await drained
    }
    stalled?.()
    response.end(
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
    )
  })
  const text = await new Promise<{
    readonly bytes: number
    readonly tail: string
    readonly sentWhenStalled: number
  }>((resolve, reject) => {
    const request = httpRequest(
      `${gateway.baseUrl}/v1/chat/completions`,
      { method: 'POST', headers: authorized() },
      (response) => {
        response.pause()
        void hasStalled.then(() => {
          const sentWhenStalled = sent
          let bytes = 0
          let tail = ''
          response.on('data', (piece: Buffer) => {
            bytes += piece.byteLength
            tail = (tail + piece.toString('latin1')).slice(-100)
          })
          response.on('end', () => resolve({ bytes, tail, sentWhenStalled }))
          response.resume()
          response.on('error', reject)
        }, reject)
      },
    )
    request.on('error', reject)
    request.end('{"model":"chat-model","stream":true,"messages":[]}')
  })
  expect(text.sentWhenStalled).toBeLessThan(CHUNKS)
  expect(text.sentWhenStalled * chunk.length).toBeLessThan(24 * 1024 * 1024)
  expect(text.bytes).toBeGreaterThan(CHUNKS * 2_000)
  expect(text.tail).toContain('[DONE]')
})

test.each([
  ['chat', 'chat-model', '/v1/chat/completions'],
  ['messages', 'messages-model', '/v1/messages'],
] as const)(
  '(%s) a call ends at the last word of its protocol, although the upstream keeps the connection open',
  async (protocol, model, path) => {
    const pieces = streamed(protocol, 'All is said.', { input: 200, output: 3_000 })
    upstream.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(pieces.prelude + pieces.text + pieces.end)
    })
    const answer = await postJson(
      `${gateway.baseUrl}${path}`,
      { model, stream: true, max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] },
      authorized(),
    )
    expect(answer.text).toMatch(/(\[DONE\]|message_stop"\})\n\n$/)
    const log = await gateway.lastLog()
    expect([log.ending, log.usage.output, log.usageSource]).toEqual(['complete', 3_000, 'upstream'])
    expect((await gateway.account()).held).toBe(0n)
  },
)

describe('counting tokens', () => {
  test('an upstream that counts is asked, with its own model name, and its answer comes back as it is [D-addresses-32]', async () => {
    upstream.answer(answerJson('{ "input_tokens" : 1234 }'))
    const answer = await postJson(
      `${gateway.baseUrl}/v1/messages/count_tokens`,
      '{"model":"messages-model","messages":[{"role":"user","content":"hi"}]}',
      authorized(),
    )
    expect([answer.status, answer.text]).toEqual([200, '{ "input_tokens" : 1234 }'])
    expect(upstream.requests.at(-1)).toMatchObject({ path: '/v1/messages/count_tokens' })
    expect(upstream.requests.at(-1)?.json()).toMatchObject({ model: 'claude-x' })
  })

  test('so is a Gemini upstream [D-addresses-29]', async () => {
    upstream.answer(answerJson({ totalTokens: 77 }))
    const answer = await postJson(
      `${gateway.baseUrl}/v1beta/models/gemini-model:countTokens`,
      '{"contents":[{"parts":[{"text":"hi"}]}]}',
      authorized(),
    )
    expect(answer.body['totalTokens']).toBe(77)
    expect(upstream.requests.at(-1)?.path).toContain('/models/gemini-x:countTokens')
  })

  test('one that does not, or fails, is counted for; it costs nothing [D-addresses-33] [D-addresses-41]', async () => {
    upstream.answer(answerJson({ error: { type: 'x', message: 'no' } }, 500))
    const before = await gateway.account()
    const counted = await postJson(
      `${gateway.baseUrl}/v1/messages/count_tokens`,
      { model: 'messages-model', messages: [{ role: 'user', content: 'one two three four five' }] },
      authorized(),
    )
    expect(counted.body['input_tokens']).toBeGreaterThanOrEqual(5)
    const responses = await postJson(
      `${gateway.baseUrl}/v1/responses/input_tokens`,
      { model: 'chat-model', input: 'one two three four five' },
      authorized(),
    )
    expect(responses.body['input_tokens']).toBeGreaterThanOrEqual(5)
    expect((await gateway.account()).credits).toBe(before.credits)
  })

  test('it is held to the same refusals', async () => {
    const refused = await postJson(
      `${gateway.baseUrl}/v1/messages/count_tokens`,
      { model: 'nope' },
      authorized(),
    )
    expect([refused.status, refused.body.code]).toEqual([502, 50201])
    expect(
      (await postJson(`${gateway.baseUrl}/v1/messages/count_tokens`, { model: 'messages-model' })).status,
    ).toBe(401)
  })
})
