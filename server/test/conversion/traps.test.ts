/** The trap that shows only between sockets (reference §3, 40), and that every one of the forty has its test. */
import { readdirSync, readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestGateway, openGateway, putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { type Answerer, openScriptedUpstream, type ScriptedUpstream } from '../gateway/scripted-upstream.ts'

let upstream: ScriptedUpstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await openScriptedUpstream()
  gateway = await openGateway()
  await gateway.catalogue(
    ...putVendor('acme', upstream.url, { kind: 'openai' }),
    putModel('m'),
    putChain({ model: 'm', vendor: 'acme', forward: 'gpt-4.1' }),
  )
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
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
  ])('trap 40: (%s) takes the upstream with it, and pays for what was made', async (_name, path, body) => {
    const { answerer, closed } = endless()
    upstream.script(answerer)
    await hangUpAfterFirst(path, { model: 'm', stream: true, ...body })
    await closed
    const log = await gateway.lastLog()
    expect(log).toMatchObject({ clientGone: true, ending: 'client-gone', usageSource: 'estimated' })
    expect(log.usage.output).toBeGreaterThan(0)
    expect(log.amount).toBeGreaterThan(0n)
    expect((await gateway.account()).held).toBe(0n)
  })
})

test('every trap of the reference has a test of its name', () => {
  const found = new Set<number>()
  for (const path of testFiles(join(import.meta.dirname, '../../src')).concat(
    testFiles(join(import.meta.dirname, '..')),
  )) {
    for (const [, number] of readFileSync(path, 'utf8').matchAll(
      /test(?:\.each\([^]*?\))?\('trap (\d\d): /g,
    )) {
      found.add(Number(number))
    }
  }
  const all = Array.from({ length: 40 }, (_, index) => index + 1)
  expect(all.filter((number) => !found.has(number))).toEqual([])
})

function testFiles(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) return testFiles(path)
    return entry.name.endsWith('.test.ts') ? [path] : []
  })
}
