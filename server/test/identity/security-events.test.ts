/** What somebody who watches over a gateway reads in the file of security events. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AdminGateway, openAdminGateway } from '../gateway/admin-gateway.ts'
import { get, postJson } from '../gateway/client.ts'
import { bearer, dataOf, type Desk, PASSWORD, post } from './person.ts'
import { type Mailbox, openMailbox } from '../notify/mailbox.ts'
import type { AccountId } from '../../src/core/ids.ts'
import { Secret } from '../../src/core/secret.ts'
import { hashPassword } from '../../src/management/accounts/passwords.ts'

let directory: string
let file: string
let admin: AdminGateway
let mailbox: Mailbox
let desk: Desk
let account: { readonly id: AccountId; readonly email: string }
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-events-'))
  file = join(directory, 'security.jsonl')
  mailbox = await openMailbox()
  admin = await openAdminGateway({ ops: true, environment: { SLUICE_SECURITY_LOG: file } })
  desk = { baseUrl: admin.gateway.baseUrl, mailbox }
  const email = 'watched@example.com'
  const passwordHash = await hashPassword(new Secret(PASSWORD))
  account = { id: (await admin.gateway.newAccount({ email, passwordHash })).id, email }
})
afterAll(async () => {
  await admin.close()
  await mailbox.close()
  rmSync(directory, { recursive: true })
})

interface Line {
  readonly event: string
  readonly [name: string]: unknown
}

/** The events that `work` caused. */
async function eventsOf(work: () => Promise<unknown>): Promise<readonly Line[]> {
  const { security } = admin.gateway.running.pipeline.telemetry
  await security.close()
  const before = linesNow().length
  await work()
  await security.close()
  return linesNow().slice(before)
}

function linesNow(): readonly Line[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    // Nothing was told yet.
    return []
  }
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
}

const signIn = (password = PASSWORD) => post(desk, '/sign-in', { email: account.email, password })

describe('in the file of security events', () => {
  test('a sign-in that fails has the account and the address, and nothing that was typed', async () => {
    const [line] = await eventsOf(() => signIn('my secret guess'))
    expect(line).toMatchObject({
      event: 'sign-in.failed',
      account: account.id,
      address: '127.0.0.1',
      method: 'password',
    })
    expect(readFileSync(file, 'utf8')).not.toContain('secret guess')
  })

  test('a sign-in of nobody has no account, and what was typed as one is not there', async () => {
    const [line] = await eventsOf(() =>
      post(desk, '/sign-in', { email: 'nobody@example.com', password: 'x' }),
    )
    expect(line?.event).toBe('sign-in.failed')
    expect(line).not.toHaveProperty('account')
    expect(readFileSync(file, 'utf8')).not.toContain('nobody@')
  })

  test('a sign-in has its session, and the entry of the audit log', async () => {
    const events = await eventsOf(async () => dataOf(await signIn()))
    expect(events).toMatchObject([
      { event: 'audit.entry', action: 'account.sign-in', subject: account.id },
      { event: 'sign-in.succeeded', account: account.id, second_factor: false },
    ])
  })

  test('tries that were not looked at', async () => {
    const events = await eventsOf(async () => {
      for (let tries = 0; tries < 12; tries++)
        await post(desk, '/sign-in', { email: 'other@example.com', password: 'x' })
    })
    const names = events.map(({ event }) => event)
    expect(names.filter((name) => name === 'sign-in.failed')).toHaveLength(10)
    expect(names.slice(-2)).toEqual(['sign-in.limited', 'request.limited'])
  })

  test('codes that were not sent', async () => {
    const events = await eventsOf(async () => {
      for (let asked = 0; asked < 6; asked++)
        await post(desk, '/verification-codes', {
          channel: 'email',
          target: 'flooded@example.com',
          purpose: 'register',
        })
    })
    expect(events.map(({ event }) => event)).toEqual(['code.limited', 'request.limited'])
  })

  test('a request that another site made a browser send', async () => {
    const { token } = dataOf(await signIn())
    const events = await eventsOf(() =>
      post(
        desk,
        '/keys',
        { name: 'x' },
        { cookie: `sluice_session=${token}`, origin: 'https://evil.example' },
      ),
    )
    expect(events).toMatchObject([{ event: 'csrf.refused', method: 'POST', path: '/api/v1/user/user/keys' }])
  })

  test('a key used from an address it does not allow, for a call and for the account', async () => {
    const { gateway } = admin
    const { key, keyId } = await gateway.newKey(account.id, { ipAllow: ['192.0.2.0/24'] })
    const events = await eventsOf(async () => {
      await postJson(`${gateway.baseUrl}/v1/chat/completions`, { model: 'x', messages: [] }, bearer(key))
      await get(`${gateway.baseUrl}/api/v1/user/user/account`, bearer(key))
      await gateway.settled()
    })
    const about = { event: 'key.address-refused', key: keyId, account: account.id, address: '127.0.0.1' }
    expect(events).toMatchObject([about, about])
    expect(readFileSync(file, 'utf8')).not.toContain(key)
  })

  test('an impersonation, begun and ended', async () => {
    const events = await eventsOf(async () => {
      const answer = await admin.post(`/accounts/${account.id}/impersonate`, { reason: 'ticket 7' })
      const { token } = answer.body.data as { readonly token: string }
      await post(desk, '/sign-out', {}, bearer(token))
    })
    expect(events.map(({ event }) => event)).toEqual([
      'audit.entry',
      'impersonation.begun',
      'secret.shown',
      'audit.entry',
      'impersonation.ended',
    ])
    expect(events[1]).toMatchObject({ account: account.id, actor: admin.adminId })
  })

  test('what an administrator changes, by its entry of the audit log', async () => {
    const events = await eventsOf(() => admin.patch(`/accounts/${account.id}`, { phone: '+8613800138009' }))
    expect(events).toMatchObject([
      { event: 'audit.entry', action: 'account.change', subject: account.id, actor: admin.adminId },
    ])
  })

  test('a secret that was shown, without the secret', async () => {
    const { token } = dataOf(await signIn())
    let key = ''
    const events = await eventsOf(async () => {
      const made = await post(desk, '/keys', { name: 'mine' }, bearer(token))
      key = (made.body.data as { readonly key: string }).key
    })
    expect(events).toContainEqual(
      expect.objectContaining({
        event: 'secret.shown',
        account: account.id,
        route: 'POST /api/v1/user/user/keys',
      }),
    )
    expect(readFileSync(file, 'utf8')).not.toContain(key)
  })

  test('and each is counted for Prometheus', async () => {
    const { text } = await get(`${admin.gateway.opsUrl}/metrics`)
    expect(text).toMatch(/^sluice_security_events_total\{event="sign-in.failed"\} \d+$/m)
  })
})
