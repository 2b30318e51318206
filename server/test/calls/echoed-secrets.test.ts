/**
 * An upstream that echoes the credential it was called with: no body, header, stream or log row tells it
 * (docs/operating/security.md#credentials-of-vendors).
 */
import { expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { type Answerer, answerJson, answerStream } from '../gateway/scripted-upstream.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const SECRET = 'secret-of-acme-main'

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url),
    putModel('m', { maxOutputTokens: 100 }),
    putChain({ model: 'm', vendor: 'acme' }),
  ],
})

const echo = `bad key: Bearer ${SECRET}`
const error = (status: number): Answerer =>
  answerJson({ error: { message: echo, type: 'invalid_request_error', param: 'max_tokens' } }, status, {
    'retry-after': '1',
    'x-echo': echo,
  })
const chunk = (delta: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`
const body = { model: 'm', max_tokens: 5_000, messages: [{ role: 'user', content: 'hi' }] }
const bearer = (): Record<string, string> => ({ authorization: `Bearer ${gateway.key}` })

test.each<readonly [where: string, path: string, fields: object, answerer: Answerer]>([
  ['a 400 that is passed', 'chat/completions', {}, error(400)],
  ['a 400 inside another protocol’s error', 'messages', {}, error(400)],
  ['a 401 under upstream_body', 'chat/completions', {}, error(401)],
  ['a 403 under upstream_body of another protocol', 'responses', { input: 'hi' }, error(403)],
  ['a 429', 'chat/completions', {}, error(429)],
  ['a 500', 'chat/completions', {}, error(500)],
  [
    'an error inside a stream, split between its chunks',
    'chat/completions',
    { stream: true },
    answerStream([
      chunk({ content: 'x' }),
      `data: {"error":{"message":"Bearer secret-of`,
      `-acme-main"}}\n\n`,
    ]),
  ],
  [
    'an answer that is passed as a stream',
    'chat/completions',
    { stream: true },
    answerStream([chunk({ content: 'x' }), chunk({ content: echo }), 'data: [DONE]\n\n']),
  ],
  [
    'an answer that is converted',
    'messages',
    { stream: true },
    answerStream([chunk({ content: 'x' }), chunk({ content: echo }), 'data: [DONE]\n\n']),
  ],
])('%s does not tell the platform’s credential', async (_where, path, fields, answerer) => {
  await gateway.resetHealth()
  upstream.answer(answerer)
  const answer: Answer = await postJson(`${gateway.baseUrl}/v1/${path}`, { ...body, ...fields }, bearer())
  expect(upstream.requests.at(-1)?.headers.authorization).toBe(`Bearer ${SECRET}`)
  expect(answer.text).toContain('*'.repeat(SECRET.length))
  expect(answer.text).not.toContain(SECRET)
  expect(JSON.stringify([...answer.headers])).not.toContain(SECRET)
  const row = JSON.stringify(await gateway.lastLog(), (_name, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
  expect(row).not.toContain(SECRET)
})
