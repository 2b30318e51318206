/** Registration that is closed, or for the invited: at every way in. */
import { DAY_MS } from '../../src/core/durations.ts'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sendRaw } from '../gateway/client.ts'
import { type TestGateway, openGateway } from '../gateway/gateway.ts'
import { type IdentityProvider, openIdentityProvider } from './identity-provider.ts'
import { type Desk, mailedCode, PASSWORD, post, read } from './person.ts'
import { type Mailbox, openMailbox } from '../notify/mailbox.ts'
import { accountId, memberId } from '../../src/core/ids.ts'
import { UNLIMITED } from '../../src/core/limits/policy.ts'
import { microCredits } from '../../src/core/money.ts'

const ORGANISATION = accountId('acc_team')

let provider: IdentityProvider
let mailbox: Mailbox
const gateways = new Map<string, { readonly gateway: TestGateway; readonly desk: Desk }>()
beforeAll(async () => {
  provider = await openIdentityProvider()
  mailbox = await openMailbox()
  for (const rule of ['closed', 'invited']) gateways.set(rule, await openWith(rule))
})
afterAll(async () => {
  for (const { gateway } of gateways.values()) await gateway.close()
  await provider.close()
  await mailbox.close()
})

async function openWith(rule: string) {
  const client = `${encodeURIComponent(provider.clientId)}:${encodeURIComponent(provider.clientSecret)}`
  const port = await freePort()
  const gateway = await openGateway({
    environment: {
      SLUICE_PORT: String(port),
      SLUICE_REGISTRATION: rule,
      SLUICE_PUBLIC_URL: 'http://sluice.test',
      SLUICE_SMTP_URL: mailbox.url,
      SLUICE_MAIL_FROM: 'codes@sluice.example',
      SLUICE_SIGN_IN: `oidc+http://${client}@${new URL(provider.url).host}?name=corp&label=Example`,
    },
  })
  await gateway.storage.organisations.create(
    { id: ORGANISATION, name: 'Acme', createdAt: 0 },
    { id: memberId('mem_owner'), accountId: gateway.accountId },
  )
  return { gateway, desk: { baseUrl: `http://127.0.0.1:${port}`, mailbox } }
}

/** The public address is another one, so the port has to be known beforehand. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

function at(rule: 'closed' | 'invited') {
  const found = gateways.get(rule)
  if (found === undefined) throw new Error(`no gateway is ${rule}`)
  return found
}

let count = 0
let email: string
beforeEach(() => {
  email = `newcomer${++count}@example.com`
  provider.visitor = { sub: `newcomer-${count}` }
})

async function invite(rule: 'closed' | 'invited', address = email, expiresAt = Date.now() + DAY_MS) {
  const { gateway } = at(rule)
  await gateway.storage.organisations.invite({
    id: `inv_${++count}`,
    organisationId: ORGANISATION,
    email: address,
    role: 'member',
    monthlyCap: microCredits(0n),
    policy: UNLIMITED,
    invitedBy: gateway.accountId,
    tokenHash: String(count).padStart(64, '0'),
    createdAt: Date.now(),
    expiresAt,
  })
}

/** The address the console is sent to when the service's answer is in. */
async function throughService({ desk }: { readonly desk: Desk }): Promise<string> {
  const begun = await post(desk, '/sign-in/services/corp/start')
  const cookie = (begun.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const { url } = begun.body.data as { readonly url: string }
  const { pathname, search } = new URL(await provider.consent(url))
  const answer = await sendRaw(`${desk.baseUrl}${pathname}${search}`, { method: 'GET', headers: { cookie } })
  return answer.headers.get('location') ?? ''
}

const hasAccount = async (rule: 'closed' | 'invited') =>
  (await at(rule).gateway.storage.accounts.findByLogin({ email })) !== undefined

describe('where registration is closed, no account can be created', () => {
  test.each([
    ['by e-mail', '/register/email', { code: '123456', password: PASSWORD }],
    ['by phone', '/register/phone', { phone: '+8613800138000', code: '123456', password: PASSWORD }],
  ])('%s', async (_how, path, body) => {
    const fields = path.endsWith('email') ? { ...body, email } : body
    const answer = await post(at('closed').desk, path, fields)
    expect(answer).toMatchObject({ status: 403, body: { code: 40307 } })
    expect(answer.body.message).toContain('operator')
  })

  test('and nobody is sent a code for it, invited or not', async () => {
    await invite('closed')
    const asked = { channel: 'email', target: email, purpose: 'register' }
    expect(await post(at('closed').desk, '/verification-codes', asked)).toMatchObject({
      status: 403,
      body: { code: 40307 },
    })
  })

  test('by a code of another purpose', async () => {
    const code = await codeOfAnAccount()
    const answer = await post(at('closed').desk, '/register/email', { email, code, password: PASSWORD })
    expect(answer.status).toBe(403)
  })

  test('through another service, with a verified address or without', async () => {
    provider.visitor = { sub: `closed-${count}`, email, email_verified: true }
    expect(await throughService(at('closed'))).toContain('#error=closed')
    expect(await hasAccount('closed')).toBe(false)
  })

  test('but who has one signs in, by code and through a service', async () => {
    const { gateway, desk } = at('closed')
    await gateway.newAccount({ email })
    const code = await mailedCode(desk, email, 'sign_in')
    expect((await post(desk, '/sign-in', { email, code })).status).toBe(200)
    provider.visitor = { sub: `known-${count}`, email, email_verified: true }
    expect(await throughService(at('closed'))).toBe('http://sluice.test/')
  })

  test('and the console is told', async () => {
    expect((await read(at('closed').desk, '/sign-in/options')).body.data).toMatchObject({
      registration: 'closed',
      register_by: [],
    })
  })
})

async function codeOfAnAccount(): Promise<string> {
  const other = `other${count}@example.com`
  await at('closed').gateway.newAccount({ email: other })
  return mailedCode(at('closed').desk, other, 'sign_in')
}

describe('where registration is for the invited', () => {
  test('whoever has an invitation makes an account with that address', async () => {
    await invite('invited')
    const { desk } = at('invited')
    const code = await mailedCode(desk, email, 'register')
    expect((await post(desk, '/register/email', { email, code, password: PASSWORD })).status).toBe(200)
  })

  test('and through another service that has verified it', async () => {
    await invite('invited')
    provider.visitor = { sub: `invited-${count}`, email, email_verified: true }
    expect(await throughService(at('invited'))).toBe('http://sluice.test/')
    expect(await hasAccount('invited')).toBe(true)
  })

  test('nobody else does through a service: unverified, uninvited or without an address', async () => {
    await invite('invited')
    for (const visitor of [
      { sub: `unverified-${count}`, email, email_verified: false },
      { sub: `uninvited-${count}`, email: `x${email}`, email_verified: true },
      { sub: `nameless-${count}` },
    ]) {
      provider.visitor = visitor
      expect(await throughService(at('invited'))).toContain('#error=closed')
    }
    expect(await hasAccount('invited')).toBe(false)
  })

  test('nobody learns from the answer who is invited, and only the invited get a mail', async () => {
    await invite('invited')
    const { desk } = at('invited')
    const stranger = `stranger${count}@example.com`
    const ask = (target: string) =>
      post(desk, '/verification-codes', { channel: 'email', target, purpose: 'register' })
    const answers = [await ask(stranger), await ask(email)]
    expect(answers.map(({ status, body }) => [status, body.message])).toEqual([
      [200, 'ok'],
      [200, 'ok'],
    ])
    await mailbox.next(email)
    await at('invited').gateway.settled()
    expect(mailbox.mails.some(({ to }) => to?.some(({ address }) => address === stranger))).toBe(false)
  })

  test('an invitation that was taken back or is over lets nobody in, with a code that came before', async () => {
    const { gateway, desk } = at('invited')
    await invite('invited')
    const code = await mailedCode(desk, email, 'register')
    await gateway.storage.organisations.revokeInvitation(`inv_${count}`)
    const answer = await post(desk, '/register/email', { email, code, password: PASSWORD })
    expect(answer).toMatchObject({ status: 403, body: { code: 40307 } })
    expect(await gateway.storage.organisations.isInvited(email, Date.now())).toBe(false)
    await invite('invited', `late${email}`, Date.now() + 1)
    expect(await gateway.storage.organisations.isInvited(`late${email}`, Date.now() + 2)).toBe(false)
  })

  test('phones cannot register', async () => {
    const asked = { channel: 'phone', target: '+8613800138000', purpose: 'register' }
    expect((await post(at('invited').desk, '/verification-codes', asked)).body.code).toBe(40307)
  })

  test('and the console is told', async () => {
    expect((await read(at('invited').desk, '/sign-in/options')).body.data).toMatchObject({
      registration: 'invited',
      register_by: ['email', 'service'],
    })
  })
})
