/** The part of the walk that needs mails, an authenticator and a passkey: coming in, second factors, invitations. */
import { codeOf, decodeBase32 } from '../../src/management/identity/factors/totp.ts'
import { makeSignInLink, signInLinkUrl } from '../../src/management/identity/sessions/sign-in-link.ts'
import { SoftwareAuthenticator } from '../identity/software-authenticator.ts'
import { codeIn, type Mailbox } from '../notify/mailbox.ts'
import type { TestGateway } from './gateway.ts'
import { type Data, type Headers, type Tour, USER } from './management-tour.ts'
import { openTeam } from './team.ts'

const PASSWORD = 'correct horse battery'
const STEP_MS = 30_000

export interface Desk {
  readonly gateway: TestGateway
  readonly mailbox: Mailbox
  /** Of an operator. */
  readonly headers: Headers
}

export async function walkAccess(tour: Tour, desk: Desk): Promise<void> {
  const { gateway } = desk
  const go = (who: Headers, method: string, path: string, body?: unknown, ids: readonly string[] = []) =>
    tour.go(who, method, `${USER}/${path}`, { ids, ...(body === undefined ? {} : { body }) })
  const codeFor = async (target: string, purpose: string, who: Headers = {}): Promise<string> => {
    await go(who, 'POST', 'verification-codes', { channel: 'email', target, purpose })
    // Other mails are passed over: what has changed is told too.
    for (;;) {
      const { text = '' } = await desk.mailbox.next(target)
      if (/\d{6}/.test(text)) return codeIn(text)
    }
  }
  const email = 'visitor@example.com'
  const code = await codeFor(email, 'register')
  const person = bearer(await go({}, 'POST', 'register/email', { email, code, password: PASSWORD }))
  await go(person, 'POST', 'session-key')
  const moved = 'moved@example.com'
  await go(person, 'PUT', 'email', { email: moved, code: await codeFor(moved, 'change_email', person) })

  await go(person, 'POST', 'second-factors/totp/confirm', { code: await codeOfApp(tour, person) })
  const more = await go(person, 'POST', 'second-factors/recovery-codes')
  const [recovery] = more['recovery_codes'] as unknown as readonly string[]
  const pending = await go({}, 'POST', 'sign-in', { email: moved, password: PASSWORD })
  await go({}, 'POST', 'sign-in/second-factor', { challenge: pending['challenge'], recovery_code: recovery })
  await go(person, 'DELETE', 'second-factors/totp')

  const key = new SoftwareAuthenticator({
    origin: new URL(gateway.baseUrl).origin,
    hostName: new URL(gateway.baseUrl).hostname,
  })
  const adding = await go(person, 'POST', 'second-factors/passkeys/options', {})
  await go(person, 'POST', 'second-factors/passkeys', {
    challenge: adding['challenge'],
    name: 'telephone',
    response: key.create(adding['options'] as unknown as { challenge: string }),
  })
  const asked = await go({}, 'POST', 'sign-in/passkey/options', {})
  const options = asked['options'] as unknown as { challenge: string }
  await go({}, 'POST', 'sign-in/passkey', { challenge: asked['challenge'], response: key.get(options) })
  await go(person, 'DELETE', 'second-factors/passkeys/{id}', undefined, [key.id])

  const reset = { email: moved, code: await codeFor(moved, 'reset_password'), password: `${PASSWORD} 2` }
  const again = bearer(await go({}, 'POST', 'password/reset', reset))
  const account = await gateway.storage.accounts.findByLogin({ email: moved })
  if (account === undefined) throw new Error(`there is no account ${moved}`)
  await go(again, 'POST', 'second-factors/totp/confirm', { code: await codeOfApp(tour, again) })
  await tour.go(desk.headers, 'POST', 'admin/accounts/{id}/second-factors/reset', {
    ids: [account.id],
    body: { reason: 'a test' },
  })
  const actor = {
    at: Date.now(),
    accountId: undefined,
    name: 'command line',
    sessionId: undefined,
    address: 'local',
    requestId: undefined,
  }
  const link = signInLinkUrl('https://sluice.example', await makeSignInLink(gateway.storage, account, actor))
  await go({}, 'POST', 'sign-in/link', { token: new URL(link).searchParams.get('token') })
}

/** Begins with an authenticator app; what it shows now. */
async function codeOfApp(tour: Tour, who: Headers): Promise<string> {
  const app = await tour.go(who, 'POST', `${USER}/second-factors/totp`, { body: {} })
  return codeOf(decodeBase32(String(app['secret'])), Math.floor(Date.now() / STEP_MS), 6)
}

export async function walkInvitations(tour: Tour, { gateway, mailbox }: Desk): Promise<void> {
  const team = await openTeam(gateway)
  const owner = team.owner.headers
  const at = (path: string) => `${USER}/organisations/{organisation}${path}`
  const invite = async (email: string): Promise<string> => {
    const made = await tour.go(owner, 'POST', at('/invitations'), { ids: [team.id], body: { email } })
    return String(made['id'])
  }
  const guest = await gateway.newAccount({ email: 'guest@example.com' })
  await invite('guest@example.com')
  const { text = '' } = await mailbox.next('guest@example.com')
  const body = { token: /^invite-\S+$/m.exec(text)?.[0] }
  await tour.go({}, 'POST', `${USER}/organisations/invitations/preview`, { body })
  const { headers } = await gateway.signIn(guest.id)
  await tour.go(headers, 'POST', `${USER}/organisations/invitations/accept`, { body })
  const ids = [team.id, await invite('nobody@example.com')]
  await tour.go(owner, 'POST', at('/invitations/{invitation}/resend'), { ids })
  await tour.go(owner, 'DELETE', at('/invitations/{invitation}'), { ids })
  await tour.go(owner, 'DELETE', at(''), { ids: [team.id], query: '?forfeit=true' })
}

const bearer = (signedIn: Data): Headers => ({ authorization: `Bearer ${String(signedIn['token'])}` })
