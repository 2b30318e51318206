/** Calls from web pages of other sites: off unless the operator names the sites, and never for the management API. */
import { describe, expect, test } from 'vitest'
import { type Answer, sendRaw } from '../gateway/client.ts'
import type { TestGateway } from '../gateway/gateway.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const APP = 'https://app.example.com'
const MODELS = '/v1/models'
const CHAT = '/v1/chat/completions'

const { gateway: named } = await withGateway({
  environment: { SLUICE_CORS_ORIGINS: `${APP}, tauri://localhost` },
})
const { gateway: open } = await withGateway({ environment: { SLUICE_CORS_ORIGINS: '*' } })
const { gateway: closed } = await withGateway()

const asked = (
  gateway: TestGateway,
  path: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<Answer> => sendRaw(`${gateway.baseUrl}${path}`, { method, headers })

const preflight = (gateway: TestGateway, path: string, origin: string): Promise<Answer> =>
  asked(
    gateway,
    path,
    {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-stainless-lang',
    },
    'OPTIONS',
  )

const allowed = (answer: Answer): string | null => answer.headers.get('access-control-allow-origin')

describe('a named site', () => {
  test.each([APP, 'tauri://localhost'])('%s may ask beforehand', async (origin) => {
    const answer = await preflight(named, CHAT, origin)
    expect(answer.status).toBe(204)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': 'authorization,content-type,x-stainless-lang',
      'access-control-max-age': '7200',
      vary: 'Origin',
    })
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
  })

  test('may read answers and their headers, refusals too', async () => {
    const key = { authorization: `Bearer ${named.key}` }
    for (const [path, headers, status] of [
      [MODELS, key, 200],
      [MODELS, {}, 401],
      ['/v1beta/models', key, 200],
      ['/v1/nope', key, 404],
      [CHAT, key, 405],
    ] as const) {
      const answer = await asked(named, path, { origin: APP, ...headers })
      expect([path, answer.status, allowed(answer)]).toEqual([path, status, APP])
      expect(answer.headers.get('access-control-expose-headers')).toMatch(
        /x-request-id.*gw-model.*ratelimit.*retry-after/,
      )
      expect(answer.headers.get('vary')).toBe('Origin')
    }
  })

  test('may read the answer to a call', async () => {
    const answer = await sendRaw(`${named.baseUrl}${CHAT}`, {
      headers: { origin: APP, authorization: `Bearer ${named.key}`, 'content-type': 'application/json' },
      pieces: ['{"model":"none","messages":[]}'],
    })
    expect([answer.status, allowed(answer)]).toEqual([502, APP])
  })
})

test.each(['https://evil.example', 'https://app.example.com.evil.example', 'http://app.example.com', 'null'])(
  'a site that was not named is told nothing: %s',
  async (origin) => {
    const answer = await preflight(named, CHAT, origin)
    expect([answer.status, allowed(answer)]).toEqual([405, null])
    expect(answer.headers.get('vary')).toBe('Origin')
    expect(allowed(await asked(named, MODELS, { origin }))).toBeNull()
  },
)

test('a star lets every site call', async () => {
  const answer = await preflight(open, CHAT, 'https://anybody.example')
  expect([answer.status, allowed(answer)]).toEqual([204, '*'])
  expect(allowed(await asked(open, MODELS, { origin: 'null' }))).toBe('*')
})

test.each(['/api/v1/user/user/models', '/api/v1/user/user/sign-in', '/'])(
  'the management API stays with its own origin, whatever is named: %s',
  async (path) => {
    for (const gateway of [named, open]) {
      expect(allowed(await preflight(gateway, path, APP))).toBeNull()
      expect(allowed(await asked(gateway, path, { origin: APP }))).toBeNull()
    }
  },
)

test('nothing is allowed unless the operator says so', async () => {
  const answer = await preflight(closed, CHAT, APP)
  expect([answer.status, allowed(answer), answer.headers.get('vary')]).toEqual([405, null, null])
  expect(allowed(await asked(closed, MODELS, { origin: APP }))).toBeNull()
})
