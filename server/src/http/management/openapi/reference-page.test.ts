/** The reference as people get it: small, whole, their own part first, and nothing from elsewhere. */
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { operationsOf } from '../../../../test/gateway/operations.ts'
import { withGateway } from '../../../../test/gateway/with-gateway.ts'

const { gateway } = await withGateway()

const BYTES_MAX = 150_000
const read = async (path: string) => {
  const response = await fetch(gateway.baseUrl + path)
  return { html: await response.text(), policy: response.headers.get('content-security-policy') ?? '' }
}
const idsOf = (html: string) => [...html.matchAll(/<details id="(\w+)">/g)].map(([, id = '']) => id)

test('each operation stands on one page: what people call on the first, what administrators do on the second', async () => {
  const [use, operate] = [await read('/docs'), await read('/docs/operate')]
  const operations = await operationsOf(gateway)
  expect(idsOf(use.html).length + idsOf(operate.html).length).toBe(operations.length)
  expect(use.html).not.toContain('<kbd>/api/v1/admin/')
  expect(operate.html.match(/<kbd>\/api\/v1\/admin\//g)).toHaveLength(idsOf(operate.html).length)
  expect(use.html).toContain('<a href="/docs/operate">')
})

describe.each(['/docs', '/docs/operate'])('%s', (path) => {
  test('is small, and asks nobody else for anything', async () => {
    const { html } = await read(path)
    expect(Buffer.byteLength(html)).toBeLessThan(BYTES_MAX)
    expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
    expect(html.slice(html.indexOf('<main>'), html.indexOf('</main>'))).not.toContain('`')
  })

  test('every link on it leads somewhere', async () => {
    const { html } = await read(path)
    const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
    for (const [, goal] of html.matchAll(/href="#([^"]+)"/g)) expect(ids, goal).toContain(goal)
  })

  test('its policy lets through its own style and script, by their hashes, and nothing else', async () => {
    const { html, policy } = await read(path)
    const hashOf = (tag: string) => {
      const [, text = ''] = new RegExp(`<${tag}>([^]*)</${tag}>`).exec(html) ?? []
      return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
    }
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain(`style-src ${hashOf('style')};`)
    expect(policy).toContain(`script-src ${hashOf('script')};`)
    expect(policy).not.toContain('unsafe')
  })
})
