/** Calls from web pages of other sites: off unless the operator names the sites, and never for the office. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, sendRaw } from '../../test/house/client.ts'
import { type House, openHouse } from '../../test/house/house.ts'

const APP = 'https://app.example.com'
const MODELS = '/v1/models'
const CHAT = '/v1/chat/completions'

let named: House
let open: House
let closed: House

beforeAll(async () => {
  named = await openHouse({ environment: { SLUICE_CORS_ORIGINS: `${APP}, tauri://localhost` } })
  open = await openHouse({ environment: { SLUICE_CORS_ORIGINS: '*' } })
  closed = await openHouse()
})

afterAll(async () => {
  for (const house of [named, open, closed]) await house.close()
})

const asked = (
  house: House,
  path: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<Answer> => sendRaw(`${house.baseUrl}${path}`, { method, headers })

const preflight = (house: House, path: string, origin: string): Promise<Answer> =>
  asked(
    house,
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
  'the office stays with its own origin, whatever is named: %s',
  async (path) => {
    for (const house of [named, open]) {
      expect(allowed(await preflight(house, path, APP))).toBeNull()
      expect(allowed(await asked(house, path, { origin: APP }))).toBeNull()
    }
  },
)

test('nothing is allowed unless the operator says so', async () => {
  const answer = await preflight(closed, CHAT, APP)
  expect([answer.status, allowed(answer), answer.headers.get('vary')]).toEqual([405, null, null])
  expect(allowed(await asked(closed, MODELS, { origin: APP }))).toBeNull()
})
