import { afterAll, beforeAll, expect, test } from 'vitest'
import { openScriptedUpstream, type ScriptedUpstream } from '../../../test/gateway/scripted-upstream.ts'
import { systemWorld } from './fetch-remote.ts'
import { AllowList } from '../connect/guard.ts'
import { createSmallFetch, type SmallRequest } from './small-fetch.ts'

const NOWHERE = new AllowList([])

let service: ScriptedUpstream
beforeAll(async () => {
  service = await openScriptedUpstream()
  service.answer((request, response) => {
    if (request.path === '/elsewhere') response.writeHead(302, { location: 'http://127.0.0.1:9/secret' })
    else response.writeHead(200, { 'content-type': 'application/json' })
    response.end(request.path === '/huge' ? 'x'.repeat(1_100_000) : `{"asked":"${request.body.toString()}"}`)
  })
})
afterAll(() => service.close())

const request = (path: string, changes: Partial<SmallRequest> = {}): SmallRequest => ({
  method: 'GET',
  url: `${service.url}${path}`,
  headers: { accept: 'application/json' },
  body: undefined,
  ...changes,
})

test('an origin the operator named is asked although it is private', async () => {
  const fetch = createSmallFetch({ trusted: [service.url], allow: NOWHERE })
  const answer = await fetch(request('/token', { method: 'POST', body: 'code=1' }))
  expect(answer.status).toBe(200)
  expect(answer.body.toString()).toBe('{"asked":"code=1"}')
})

test('any other address inside the network is refused, and never asked', async () => {
  const asked = service.requests.length
  const fetch = createSmallFetch({ trusted: ['https://issuer.example'], allow: NOWHERE })
  await expect(fetch(request('/token'))).rejects.toThrow('network')
  await expect(fetch(request('/', { url: 'http://169.254.169.254/latest/meta-data' }))).rejects.toThrow(
    'network',
  )
  expect(service.requests).toHaveLength(asked)
})

test('a name that leads inside is refused', async () => {
  const world = { ...systemWorld, resolve: () => Promise.resolve(['93.184.216.34', '10.0.0.1']) }
  const fetch = createSmallFetch({ trusted: [], allow: NOWHERE }, world)
  await expect(fetch(request('/', { url: 'https://rebound.example/keys' }))).rejects.toThrow('network')
})

test('the operator may open a network', async () => {
  const fetch = createSmallFetch({ trusted: [], allow: new AllowList(['127.0.0.0/8']) })
  expect((await fetch(request('/keys'))).status).toBe(200)
})

test('a redirect is an answer, not a way', async () => {
  const fetch = createSmallFetch({ trusted: [service.url], allow: NOWHERE })
  expect((await fetch(request('/elsewhere'))).status).toBe(302)
})

test('an answer has a bound', async () => {
  const fetch = createSmallFetch({ trusted: [service.url], allow: NOWHERE })
  await expect(fetch(request('/huge'))).rejects.toThrow('larger than')
})

test.each(['file:///etc/passwd', 'ftp://example.com/', 'https://user:secret@example.com/'])(
  '%s is no address to ask',
  async (url) => {
    const fetch = createSmallFetch({ trusted: [], allow: NOWHERE })
    await expect(fetch(request('/', { url }))).rejects.toThrow('only http and https')
  },
)
