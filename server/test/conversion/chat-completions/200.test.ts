import { describe, expect, test } from 'vitest'
import { putChain, putModel, putVendor } from '../../gateway/gateway.ts'
import { answerJson, answerStream } from '../../gateway/scripted-upstream.ts'
import { withGateway } from '../../gateway/with-gateway.ts'

const COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'gpt-test-upstream',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello there' }, finish_reason: 'stop' }],
  usage: {
    prompt_tokens: 1000,
    completion_tokens: 200,
    total_tokens: 1200,
    prompt_tokens_details: { cached_tokens: 400 },
  },
}

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url),
    putModel('gpt-test'),
    putChain({ model: 'gpt-test', vendor: 'acme', forward: 'gpt-test-upstream' }),
  ],
})

function call(body: string): Promise<Response> {
  return fetch(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body,
  })
}

describe('a chat completion', () => {
  test('is answered by the upstream, under its own model name [1-04] [1-37] [4.1-36]', async () => {
    upstream.answer(answerJson(COMPLETION))
    const response = await call(
      '{ "messages": [{"role":"user","content":"Hi"}], "model" : "gpt-test" , "x": 1.0}',
    )
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ ...COMPLETION, model: 'gpt-test' })
    expect(upstream.requests.at(-1)?.body.toString()).toBe(
      '{ "messages": [{"role":"user","content":"Hi"}], "model" : "gpt-test-upstream" , "x": 1.0}',
    )
    const log = await gateway.lastLog()
    expect(log).toMatchObject({ httpStatus: 200, usageSource: 'upstream', ending: 'complete' })
    expect(log.amount).toBe(600n * 10_000n + 400n * 1_000n + 200n * 30_000n)
    expect(log.deducted).toBe(log.amount)
  })

  test('streams [1-62] [6.1-01] [6.1-03]', async () => {
    upstream.answer(
      answerStream([
        'data: {"id":"c","object":"chat.completion.chunk","model":"gpt-test-upstream","choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\n',
        'data: {"id":"c","object":"chat.completion.chunk","model":"gpt-test-upstream","choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n',
        'data: {"id":"c","object":"chat.completion.chunk","model":"gpt-test-upstream","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
        'data: [DONE]\n\n',
      ]),
    )
    const response = await call(
      '{"model":"gpt-test","stream":true,"messages":[{"role":"user","content":"Hi"}]}',
    )
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const text = await response.text()
    expect(text).toContain('"model":"gpt-test"')
    expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true)
    expect(await gateway.lastLog()).toMatchObject({ stream: true, usageSource: 'estimated' })
  })
})
