/** An upstream that reports what cannot be (docs/operating/charges.md#usage-that-cannot-be). */
import { expect, test, vi } from 'vitest'
import { get, postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerOk } from '../gateway/scripted-upstream.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  ops: true,
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url),
    putModel('m', { contextTokens: 100_000, maxOutputTokens: 1_000 }),
    putChain({ model: 'm', vendor: 'acme' }),
  ],
})

async function callWith(usage: { readonly prompt_tokens: number; readonly completion_tokens: number }) {
  upstream.answer(answerOk(usage))
  const answer = await postJson(
    `${gateway.baseUrl}/v1/chat/completions`,
    { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
    { authorization: `Bearer ${gateway.key}` },
  )
  expect(answer.status).toBe(200)
  return gateway.lastLog()
}

test('999 999 999 output tokens are charged at the model’s maximum, and the row says both numbers', async () => {
  const row = await callWith({ prompt_tokens: 1_000_000, completion_tokens: 999_999_999 })
  expect(row.usage).toMatchObject({ input: 100_000, output: 1_000 })
  // 100 000 × 10 + 1 000 × 30 yuan a million tokens, 1 000 Credits a yuan, in µCr.
  expect(row.amount).toBe(1_030_000_000n)
  expect(row.usageSuspect).toEqual({
    inputReported: 1_000_000,
    inputCharged: 100_000,
    outputReported: 999_999_999,
    outputCharged: 1_000,
  })
})

test('operators see a list of such calls, and a counter', async () => {
  await callWith({ prompt_tokens: 1, completion_tokens: 1 })
  const admin = await gateway.newAdmin({ email: 'admin@example.com' })
  const listed = await get(`${gateway.baseUrl}/api/v1/admin/logs?usage_suspect=true`, admin.headers)
  expect(listed.body.data).toMatchObject([
    { usage_suspect: { output_reported: 999_999_999, output_charged: 1_000 } },
  ])
  const metrics = await get(`${gateway.opsUrl}/metrics`)
  expect(metrics.text).toMatch(/^sluice_usage_suspect_total\{chain="\d+"\} 1$/m)
})

test('what is on record of a running answer, and charged should its process die, can be too', async () => {
  const noted = vi.spyOn(gateway.storage.calls, 'progress')
  const chunk = (fields: object): string =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', ...fields })}\n\n`
  const usage = { prompt_tokens: 999_999_999, completion_tokens: 999_999_999 }
  upstream.answer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(chunk({ choices: [{ index: 0, delta: { content: 'forty-two' } }], usage }))
  })
  const leaving = new AbortController()
  const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
    signal: leaving.signal,
  })
  await answer.body?.getReader().read()
  gateway.running.pipeline.pulse.beat(Date.now())
  leaving.abort()
  await gateway.settled()
  expect(noted.mock.calls.length).toBeGreaterThan(0)
  for (const [note] of noted.mock.calls) expect(note.usage).toMatchObject({ input: 100_000, output: 1_000 })
})
