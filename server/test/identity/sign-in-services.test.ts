/** Sign-in through other services: a real OpenID provider and a stand-in for GitHub, on loopback. */
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sendRaw } from '../gateway/client.ts'
import { openIdentityProvider } from './identity-provider.ts'
import { bearer, type Desk, post, PREFIX, read, send } from './person.ts'
import { openMailbox } from '../notify/mailbox.ts'
import { codeOf, decodeBase32 } from '../../src/management/identity/factors/totp.ts'
import { withGateway } from '../gateway/with-gateway.ts'

/** Where the browser is sent; nobody listens there, the tests carry the addresses over. */
const PUBLIC = 'http://sluice.test'

let desk: Desk
const provider = await openIdentityProvider()
afterAll(() => provider.close())
const mailbox = await openMailbox()
afterAll(() => mailbox.close())
const host = new URL(provider.url).host
const client = `${encodeURIComponent(provider.clientId)}:${encodeURIComponent(provider.clientSecret)}`
const port = await freePort()
const { gateway } = await withGateway({
  environment: {
    SLUICE_PORT: String(port),
    SLUICE_PUBLIC_URL: PUBLIC,
    SLUICE_SIGN_IN: [
      `oidc+http://${client}@${host}?name=corp&label=Example`,
      `github://${client}@github.com?endpoint=${provider.url}`,
    ].join(' '),
  },
})

beforeAll(async () => {
  desk = { baseUrl: `http://127.0.0.1:${port}`, mailbox }
})

/** A port the gateway can be told, since its public address is another one. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

let count = 0
beforeEach(() => {
  count += 1
  provider.visitor = { sub: `${count}`, name: `person ${count}` }
  provider.claims = {}
  provider.document = {}
  provider.forges = false
})

async function start(
  service = 'corp',
  body: object = {},
  headers: Record<string, string> = {},
  path = 'sign-in/services',
) {
  const answer = await post(desk, `/${path}/${service}/start`, body, headers)
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const { url } = (answer.body.data ?? {}) as { url?: string }
  return { answer, cookie, url: url ?? '' }
}

/** The browser comes back to the address the service sent it to. */
async function comeBack(address: string, cookie: string) {
  const { pathname, search } = new URL(address)
  const answer = await sendRaw(`${desk.baseUrl}${pathname}${search}`, { method: 'GET', headers: { cookie } })
  const location = answer.headers.get('location') ?? ''
  const session = /sluice_session=(session-[\w-]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1]
  const told = new URLSearchParams(location.split('#')[1] ?? '')
  return { answer, location, session, told }
}

async function signInThrough(service = 'corp', body: object = {}) {
  const { url, cookie } = await start(service, body)
  return comeBack(await provider.consent(url), cookie)
}

async function accountOf(session: string | undefined) {
  return (await read(desk, '/account', bearer(session ?? ''))).body.data as {
    id: string
    email: string | null
  }
}

describe('through an OpenID provider', () => {
  test('the services on offer are listed', async () => {
    const answer = await read(desk, '/sign-in/services')
    expect(answer.body.data).toEqual([
      { name: 'corp', label: 'Example' },
      { name: 'github', label: 'GitHub' },
    ])
  })

  test('the start is bound to this browser, and carries state, nonce and a PKCE challenge', async () => {
    const { answer, url } = await start()
    expect(answer.headers.get('set-cookie')).toMatch(
      /^sluice_sign_in=pending-[\w-]+;.*HttpOnly.*SameSite=Lax/,
    )
    const query = new URL(url).searchParams
    expect(query.get('redirect_uri')).toBe(`${PUBLIC}${PREFIX}/sign-in/services/corp/callback`)
    expect(query.get('code_challenge_method')).toBe('S256')
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(query.get(name)?.length).toBeGreaterThan(20)
  })

  test('a new person gets an account, and is the same person the next time', async () => {
    const first = await signInThrough('corp', { return_to: '/console?tab=keys' })
    expect(first.answer.status).toBe(303)
    expect(first.location).toBe(`${PUBLIC}/console?tab=keys`)
    const account = await accountOf(first.session)
    expect(account.email).toBeNull()
    const second = await signInThrough()
    expect((await accountOf(second.session)).id).toBe(account.id)
  })

  test('a verified address leads to the account that has it; an unverified one does not', async () => {
    const email = `both${count}@example.com`
    const { id } = await gateway.newAccount({ email })
    provider.visitor = { ...provider.visitor, email, email_verified: false }
    expect((await accountOf((await signInThrough()).session)).id).not.toBe(id)
    provider.visitor = { sub: `verified-${count}`, email: email.toUpperCase(), email_verified: true }
    expect((await accountOf((await signInThrough()).session)).id).toBe(id)
  })

  test('another browser cannot use the trip, nor this one twice', async () => {
    const { url, cookie } = await start()
    const back = await provider.consent(url)
    expect((await comeBack(back, '')).told.get('error')).toBe('lost')
    const other = await start()
    expect((await comeBack(back, other.cookie)).told.get('error')).toBe('refused')
    expect((await comeBack(back, cookie)).session).toBeDefined()
    expect((await comeBack(back, cookie)).told.get('error')).toBe('lost')
  })

  test.each([
    '',
    '?',
    '?code',
    '?code=',
    '?code=x',
    '?state=x',
    '?code=x&state=x',
    '?code=a&code=b&state=a&state=b',
    '?error=access_denied',
    '?error=%00&error_description=%0d%0aset-cookie:x',
    '?iss=https://evil.example&code=x',
    '?%E0%A4%A=x',
    '?__proto__=1&constructor=2',
    `?code=${'x'.repeat(8_000)}`,
    `?${'a=b&'.repeat(2_000)}`,
    '?response=eyJhbGciOiJub25lIn0.e30.',
  ])('an answer that somebody made up is no proof, and nothing breaks: %.40s', async (query) => {
    const { url, cookie } = await start()
    const callback = new URL(await provider.consent(url))
    for (const carried of [
      cookie,
      '',
      'sluice_sign_in=',
      'sluice_sign_in=pending-x',
      `sluice_sign_in=${'x'.repeat(4_000)}`,
    ]) {
      const { answer, session, told } = await comeBack(
        `${callback.origin}${callback.pathname}${query}`,
        carried,
      )
      expect(answer.status).toBe(303)
      expect(session).toBeUndefined()
      expect(told.get('error')).toMatch(/^(?:refused|lost)$/)
    }
  })

  test('a trip of one service does not end at another', async () => {
    const { url, cookie } = await start('corp')
    const back = (await provider.consent(url)).replace('/corp/', '/github/')
    expect((await comeBack(back, cookie)).told.get('error')).toBe('lost')
  })

  test.each([
    [
      'signed with another key',
      () => {
        provider.forges = true
      },
    ],
    [
      'for another client',
      () => {
        provider.claims = { aud: 'somebody else' }
      },
    ],
    [
      'of another issuer',
      () => {
        provider.claims = { iss: 'https://evil.example' }
      },
    ],
    [
      'of another sign-in',
      () => {
        provider.claims = { nonce: 'another' }
      },
    ],
    [
      'that has ended',
      () => {
        provider.claims = { exp: 1 }
      },
    ],
  ])('an id token %s is no proof', async (_what, spoil) => {
    spoil()
    const { session, told } = await signInThrough()
    expect(session).toBeUndefined()
    expect(told.get('error')).toBe('refused')
  })

  test('somebody who says no over there is not signed in', async () => {
    const { url, cookie } = await start()
    const state = new URL(url).searchParams.get('state') ?? ''
    const back = `${PUBLIC}${PREFIX}/sign-in/services/corp/callback?error=access_denied&state=${state}`
    expect((await comeBack(back, cookie)).told.get('error')).toBe('refused')
  })

  test.each(['https://evil.example', '//evil.example', '/\\evil.example', '/a\r\nb', 'evil'])(
    'the way back leads nowhere else: %j is refused',
    async (return_to) => {
      expect((await start('corp', { return_to })).answer.status).toBe(400)
    },
  )

  test('the second factor is asked for as well', async () => {
    const { session = '' } = await signInThrough()
    const begun = await post(desk, '/second-factors/totp', {}, bearer(session))
    const { secret } = begun.body.data as { secret: string }
    const code = codeOf(decodeBase32(secret), Math.floor(Date.now() / 30_000), 6)
    expect((await post(desk, '/second-factors/totp/confirm', { code }, bearer(session))).status).toBe(200)
    const next = await signInThrough()
    expect(next.session).toBeUndefined()
    expect(next.location.startsWith(`${PUBLIC}/console/sign-in#challenge=pending-`)).toBe(true)
    expect(next.told.get('factors')).toBe('totp,recovery_code')
  })

  test('an unknown service is 404', async () => {
    expect((await start('nobody')).answer.status).toBe(404)
  })
})

describe('through GitHub', () => {
  test('the account is the one of the verified primary address', async () => {
    const email = `hub${count}@example.com`
    const { id } = await gateway.newAccount({ email })
    provider.visitor = { sub: `${9000 + count}`, name: 'octo', email, email_verified: true }
    const { session } = await signInThrough('github')
    expect((await accountOf(session)).id).toBe(id)
    const links = await read(desk, '/linked-services', bearer(session ?? ''))
    expect(links.body.data).toMatchObject([{ service: 'github', label: 'octo' }])
  })
})

describe('a linked service', () => {
  test('is added by a signed-in owner, lets them in, and is removed again', async () => {
    const { id } = await gateway.newAccount()
    const { headers } = await gateway.signIn(id)
    const { url, cookie } = await start('corp', { return_to: '/settings' }, headers, 'linked-services')
    const back = await comeBack(await provider.consent(url), cookie)
    expect(back.location).toBe(`${PUBLIC}/settings`)
    expect((await accountOf((await signInThrough()).session)).id).toBe(id)
    const remove = () => send(desk, { method: 'DELETE', path: '/linked-services/corp', headers })
    expect((await remove()).status).toBe(200)
    expect((await remove()).status).toBe(404)
    expect((await accountOf((await signInThrough()).session)).id).not.toBe(id)
  })

  test('of one account cannot be added to another', async () => {
    await signInThrough()
    const { headers } = await gateway.signIn()
    const { url, cookie } = await start(
      'corp',
      { return_to: '/console/settings?tab=security' },
      headers,
      'linked-services',
    )
    const { location } = await comeBack(await provider.consent(url), cookie)
    expect(location).toBe(`${PUBLIC}/console/settings?tab=security&error=taken`)
  })

  test('is not added where its owner says no over there, who comes back to where they were', async () => {
    const { headers } = await gateway.signIn()
    const { url, cookie } = await start('corp', { return_to: '/settings' }, headers, 'linked-services')
    const state = new URL(url).searchParams.get('state') ?? ''
    const back = `${PUBLIC}${PREFIX}/sign-in/services/corp/callback?error=access_denied&state=${state}`
    expect((await comeBack(back, cookie)).location).toBe(`${PUBLIC}/settings?error=refused`)
    expect((await read(desk, '/linked-services', headers)).body.data).toEqual([])
  })

  test('that is the only way in stays', async () => {
    const { session = '' } = await signInThrough()
    const answer = await send(desk, {
      method: 'DELETE',
      path: '/linked-services/corp',
      headers: bearer(session),
    })
    expect(answer.status).toBe(409)
  })
})
