/** How the console comes to a browser: from here alone, under a policy, compressed, and never older than its gateway. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { openGateway } from '../../../test/gateway/gateway.ts'
import { withGateway } from '../../../test/gateway/with-gateway.ts'
import { openConsolePages } from './console-pages.ts'

const { gateway } = await withGateway()

interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

/** Nothing is decompressed or followed. */
function ask(
  path: string,
  headers: Readonly<Record<string, string>> = {},
  {
    method = 'GET',
    base = gateway.running.baseUrl,
  }: { readonly method?: string; readonly base?: string } = {},
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    // As a part of its own: within an address, dots would be resolved before they are sent.
    const request = httpRequest(base, { path, method, headers }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(parts),
        }),
      )
    })
    request.on('error', reject)
    request.end()
  })
}

/** The large one stands before what helps to load it, which is too short to be compressed. */
async function scriptOfPage(): Promise<string> {
  const { body } = await ask('/console')
  const [, script = ''] = /<script [^>]*type="module"[^>]* src="([^"]+)"/.exec(body.toString('utf8')) ?? []
  expect(script).toMatch(/^\/console\/assets\/[\w-]+\.js$/)
  return script
}

/** Addresses of all that a page asks the browser to fetch. */
async function namedBy(path: string, headers: Readonly<Record<string, string>> = {}) {
  const page = (await ask(path, headers)).body.toString('utf8')
  return [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, address = '']) => address)
}

describe('the page', () => {
  test.each(['/console', '/console/', '/console/keys', '/console/calls?model=m'])(
    'is the same at every address of the console: %s',
    async (path) => {
      const { status, headers, body } = await ask(path)
      expect(status).toBe(200)
      expect(headers['content-type']).toBe('text/html; charset=utf-8')
      expect(body.toString('utf8')).toContain('<div id="root">')
    },
  )

  test.each([
    ['/console', 'first-page', 'en'],
    ['/console/', 'first-page', 'en'],
    ['/console/calls', 'calls-page', 'en'],
    ['/console/operate/health', 'health-page', 'en'],
    ['/console/sign-in', 'sign-in', 'en'],
    ['/console/calls', 'zh-CN', 'zh-CN,zh;q=0.9,en;q=0.8'],
    ['/console/calls', 'en', 'de-DE,de;q=0.9,en;q=0.8'],
  ])(
    'names what its address needs, all of it there: %s has %s for whoever reads %s',
    async (path, file, read) => {
      const named = await namedBy(path, { 'accept-language': read })
      expect(named.join('\n')).toMatch(new RegExp(`/console/assets/${file}-[\\w-]+\\.js`))
      const assets = named.filter((address) => address.startsWith('/console/'))
      for (const address of assets) expect([address, (await ask(address)).status]).toEqual([address, 200])
    },
  )

  test('has asked for what its address needs first, before its scripts are there', async () => {
    const asked = async (path: string) =>
      /data-ask="([^"]*)"/.exec((await ask(path)).body.toString('utf8'))?.[1]?.split(' ')
    expect(await asked('/console/calls')).toContain('/api/v1/user/user/account')
    expect(await asked('/console/sign-in')).toEqual(['/api/v1/user/user/sign-in/options'])
    expect(await asked('/console/register')).toEqual(['/api/v1/user/user/sign-in/options'])
    // An empty list would be read as the address of the page itself.
    expect(await asked('/console/setup')).toBeUndefined()
  })

  test('has nothing asked for that is for operators alone, before the account is known', async () => {
    for (const path of ['/console/operate/health', '/console/operate/calls'])
      expect((await ask(path)).body.toString('utf8')).not.toContain('/api/v1/admin/')
  })

  test('says what it is before any script has run, in the language of the browser', async () => {
    const page = async (read: string) =>
      (await ask('/console/models', { 'accept-language': read })).body.toString('utf8')
    expect(await page('en')).toContain('<b>Models</b><p>What you may call, at your own prices.</p>')
    expect(await page('zh-CN')).toContain('<b>模型</b>')
  })

  test('shows its bars before any script has run, where the address is known', async () => {
    expect((await ask('/console/keys')).body.toString('utf8')).toContain('<div id="root"><div class="shell"')
    expect((await ask('/console/nowhere')).body.toString('utf8')).toContain('<div id="root"></div>')
  })

  test('is never kept, never framed, sends no referrer, and loads nothing that is not ours', async () => {
    const { headers } = await ask('/console')
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    })
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
  })

  test('holds no script and no style of its own, which the policy would refuse', async () => {
    const page = (await ask('/console')).body.toString('utf8')
    expect(page).not.toMatch(/<style|style=|\son\w+=/)
    expect(page.match(/<script(?![^>]*\ssrc=)/g)).toBeNull()
    expect(page).not.toMatch(/https?:\/\//)
  })

  test('takes GET and HEAD only', async () => {
    const posted = await ask('/console', {}, { method: 'POST' })
    expect([posted.status, posted.headers['allow']]).toEqual([405, 'GET'])
    const head = await ask('/console', {}, { method: 'HEAD' })
    expect([head.status, head.body.length]).toEqual([200, 0])
  })

  test('is not at the gateway address', async () => {
    expect((await ask('/console', {}, { base: gateway.running.gatewayBaseUrl })).status).toBe(404)
  })
})

describe('what the page loads', () => {
  test('comes compressed as the browser takes it, is kept for ever, and is the same each time', async () => {
    const path = await scriptOfPage()
    const plain = await ask(path, { 'accept-encoding': 'identity' })
    const brotli = await ask(path, { 'accept-encoding': 'gzip, deflate, br' })
    const gzip = await ask(path, { 'accept-encoding': 'gzip, br;q=0' })
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(brotli.headers['content-encoding']).toBe('br')
    expect(gzip.headers['content-encoding']).toBe('gzip')
    expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true)
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true)
    expect(brotli.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
    })
  })

  test.each([
    '/console/assets/none-12345678.js',
    '/console/assets/../index.html',
    '/console/assets/%2e%2e/index.html',
    '/console/assets/',
    '/console/assets/.inputs',
  ])('is nothing else: %s', async (path) => {
    const { status, headers, body } = await ask(path)
    expect(status).toBe(404)
    // While a release is rolled out, another instance may have what this one has not.
    expect(headers['cache-control']).toBe('no-store')
    expect(JSON.parse(body.toString('utf8'))).toMatchObject({ code: 40400 })
  })
})

describe('the root', () => {
  test('sends browsers to the console and stays JSON for all other clients', async () => {
    const browser = await ask('/', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
    expect([browser.status, browser.headers['location'], browser.headers['vary']]).toEqual([
      302,
      '/console',
      'accept',
    ])
    const program = await ask('/', { accept: '*/*' })
    expect([program.status, program.body.toString('utf8')]).toEqual([200, '{"service":"sluice"}'])
  })
})

describe('SLUICE_CONSOLE=off', () => {
  test('leaves the API alone', async () => {
    const plain = await openGateway({ environment: { SLUICE_CONSOLE: 'off' } })
    try {
      const base = plain.running.baseUrl
      expect((await ask('/console', {}, { base })).status).toBe(404)
      expect((await ask('/', { accept: 'text/html' }, { base })).status).toBe(200)
      expect((await ask('/api/v1/user/user/models', {}, { base })).status).toBe(200)
    } finally {
      await plain.close()
    }
  })
})

test('a file that was removed while the gateway runs is one that does not exist, and found again once it is back', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-console-'))
  const asset = join(folder, 'assets', 'page-1.js')
  const put = () => writeFileSync(asset, 'export {}')
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), '<!doctype html>')
  put()
  const tracked: Promise<unknown>[] = []
  const background = { track: (work: Promise<unknown>) => void tracked.push(work), drain: async () => 0 }
  const pages = openConsolePages(pathToFileURL(`${folder}/`), background)
  const server = createServer((request, response) => pages?.serve(request, response, request.url ?? ''))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const base = typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : ''
  rmSync(asset)
  expect((await ask('/console/assets/page-1.js', {}, { base })).status).toBe(404)
  put()
  expect((await ask('/console/assets/page-1.js', {}, { base })).status).toBe(200)
  await Promise.all(tracked)
  expect(tracked).toHaveLength(2)
  server.close()
  rmSync(folder, { recursive: true })
})
