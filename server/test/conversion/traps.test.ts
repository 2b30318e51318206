/**
 * The trap that shows only between sockets (docs/protocols.md#trap-40), and that every one of the forty has its test.
 */
import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import type { Answerer } from '../gateway/scripted-upstream.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url, { kind: 'openai' }),
    putModel('m'),
    putChain({ model: 'm', vendor: 'acme', forward: 'gpt-4.1' }),
  ],
})

const chunk = (delta: object): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`

/** Says three words, then nothing more until the connection closes; tells when that is. */
function endless(): { readonly answerer: Answerer; readonly closed: Promise<void> } {
  let close = (): void => undefined
  const closed = new Promise<void>((resolve) => {
    close = resolve
  })
  const answerer: Answerer = (_request, response) => {
    response.on('close', close)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const content of ['one ', 'two ', 'three ']) response.write(chunk({ content }))
  }
  return { answerer, closed }
}

/** Resolves at the first bytes of the answer, and hangs up. */
function hangUpAfterFirst(path: string, body: object): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    })
    request.on('error', reject)
    request.on('response', (response) => {
      response.on('error', () => undefined)
      response.once('data', () => {
        request.destroy()
        resolve()
      })
    })
    request.end(JSON.stringify(body))
  })
}

describe('a client that goes', () => {
  test.each([
    ['chat', '/v1/chat/completions', { messages: [{ role: 'user', content: 'count' }] }],
    ['responses', '/v1/responses', { input: 'count' }],
    ['messages', '/v1/messages', { max_tokens: 50, messages: [{ role: 'user', content: 'count' }] }],
  ])(
    '(%s) takes the upstream with it, and pays for what was made (docs/protocols.md#trap-40)',
    async (_name, path, body) => {
      const { answerer, closed } = endless()
      upstream.script(answerer)
      await hangUpAfterFirst(path, { model: 'm', stream: true, ...body })
      await closed
      const log = await gateway.lastLog()
      expect(log).toMatchObject({ clientGone: true, ending: 'client-gone', usageSource: 'estimated' })
      expect(log.usage.output).toBeGreaterThan(0)
      expect(log.amount).toBeGreaterThan(0n)
      expect((await gateway.account()).held).toBe(0n)
    },
  )
})

test('every trap of docs/protocols.md has a test of its name among those made for traps', () => {
  const protocols = join(import.meta.dirname, '../../src/core/protocols')
  const files = [
    join(protocols, 'testing/stream-traps.test.ts'),
    join(protocols, 'testing/request-traps.test.ts'),
    import.meta.filename,
  ]
  const named = files.flatMap((file) => ids(readFileSync(file, 'utf8'), /#(trap-\d+)\)',/g))
  const page = readFileSync(join(import.meta.dirname, '../../../docs/protocols.md'), 'utf8')
  const rows = ids(page, /^\| (trap-\d+) \|/gm)
  expect(rows).toHaveLength(40)
  expect(rows.filter((row) => !named.includes(row))).toEqual([])
})

function ids(text: string, form: RegExp): readonly string[] {
  return [...text.matchAll(form)].flatMap(([, id]) => id ?? [])
}
