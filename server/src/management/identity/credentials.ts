/** Sign-in credentials, changed by their owner: the password, the e-mail address, the phone number. */
import type { Secret } from '../../core/secret.ts'
import type { AuditActor } from '../../storage/stores/audit.ts'
import { StorageConflict } from '../../storage/failures/conflict.ts'
import type { Session } from '../../storage/stores/identity.ts'
import { hashPassword } from '../accounts/passwords.ts'
import { type Contact, loginOf } from './contact.ts'
import type { Guarded, Identity, TooMany } from './identity.ts'
import { factorBucket } from './limits.ts'
import { EMAIL_CHANGED, PASSWORD_CHANGED } from './messages/message-texts.ts'
import type { RequestOrigin } from './sessions/sessions.ts'
import { actorAt, type OwnAct, ownAct } from './own-act.ts'
import { begin, comingFrom, enter, guardTries, hasPassword, type SignedIn } from './sign-in.ts'
import { notifyOwner } from './messages/notify.ts'
import type { Account } from '../../storage/stores/accounts.ts'

export type PasswordReset = SignedIn | { readonly kind: 'wrong-code' } | TooMany

/** Ends every session; the owner of the code continues in a new one, after the second factor if there is one. */
export async function resetPassword(
  identity: Identity,
  request: { readonly contact: Contact; readonly code: Secret; readonly password: Secret },
  origin: RequestOrigin,
): Promise<PasswordReset> {
  const { storage } = identity
  const { contact } = request
  const account = await storage.accounts.findByLogin(loginOf(contact))
  const use = { purpose: 'reset_password', target: contact.target, accountId: undefined } as const
  const tried = { contact, account, address: origin.address, method: 'code' } as const
  const guarded = await guardTries(identity, tried, () =>
    storage.identity.codes.redeem(use, request.code, comingFrom(identity, origin)),
  )
  if (guarded.kind === 'too-many') return guarded
  if (guarded.kind === 'wrong' || account === undefined) return { kind: 'wrong-code' }
  const act = { account, actor: actorAt(account, origin, undefined) }
  await putPassword(identity, act, { password: request.password, action: 'account.reset-password' })
  notifyOwner(identity, account, PASSWORD_CHANGED)
  return enter(identity, account, { ...origin, method: 'code' })
}

export type PasswordChange = SignedIn | { readonly kind: 'wrong' } | TooMany

/** @param current undefined: the account has no password yet */
export async function changePassword(
  identity: Identity,
  account: Account,
  passwords: { readonly current: Secret | undefined; readonly next: Secret },
  origin: RequestOrigin & { readonly session: Pick<Session, 'id' | 'secondFactor'> },
): Promise<PasswordChange> {
  const guarded = await confirmPassword(identity, account, passwords.current)
  if (guarded.kind !== 'right') return guarded
  const { session, ...rest } = origin
  const act = { account, actor: actorAt(account, rest, session.id) }
  await putPassword(identity, act, { password: passwords.next, action: 'account.change-password' })
  notifyOwner(identity, account, PASSWORD_CHANGED)
  // The following session counts as verified like the one before.
  const { secondFactor } = session
  return begin(identity, account, { ...rest, method: 'password', secondFactor })
}

async function confirmPassword(
  { storage, now }: Identity,
  account: Account,
  current: Secret | undefined,
): Promise<Guarded> {
  if (account.passwordHash === undefined) return { kind: 'right' }
  if (current === undefined) return { kind: 'wrong' }
  const bucket = { ...factorBucket(account.id), subject: `password/${account.id}` }
  const waitMs = await storage.identity.attempts.take([bucket], now())
  if (waitMs !== undefined) return { kind: 'too-many', retryAfterMs: waitMs }
  if (!(await hasPassword(account, current))) return { kind: 'wrong' }
  await storage.identity.attempts.giveBack([bucket])
  return { kind: 'right' }
}

/** The store ends every session in the same transaction. */
async function putPassword(
  identity: Identity,
  act: OwnAct,
  { password, action }: { readonly password: Secret; readonly action: string },
): Promise<void> {
  const passwordHash = await hashPassword(password)
  await ownAct(identity, act, async ({ storage }) => {
    await storage.accounts.patch(act.account.id, { passwordHash })
    return { value: undefined, action, changes: [{ field: 'password', from: null, to: 'set' }] }
  })
}

export type ContactChange =
  | { readonly kind: 'changed' }
  | { readonly kind: 'wrong-code' }
  | { readonly kind: 'taken' }
  | TooMany

export async function changeContact(
  identity: Identity,
  account: Account,
  request: { readonly contact: Contact; readonly code: Secret },
  actor: AuditActor,
): Promise<ContactChange> {
  const { storage } = identity
  const { contact } = request
  const { address } = actor
  const purpose = contact.channel === 'email' ? 'change_email' : 'change_phone'
  const use = { purpose, target: contact.target, accountId: account.id } as const
  const tried = { contact, account, address, method: 'code' } as const
  const guarded = await guardTries(identity, tried, () =>
    storage.identity.codes.redeem(use, request.code, comingFrom(identity, actor)),
  )
  if (guarded.kind === 'too-many') return guarded
  if (guarded.kind === 'wrong') return { kind: 'wrong-code' }
  try {
    const { channel, target } = contact
    await ownAct(identity, { account, actor }, async (within) => {
      await within.storage.accounts.patch(account.id, loginOf(contact))
      const changes = [{ field: channel, from: account[channel] ?? null, to: target }]
      return { value: undefined, action: `account.change-${channel}`, changes }
    })
  } catch (error) {
    if (error instanceof StorageConflict) return { kind: 'taken' }
    throw error
  }
  if (contact.channel === 'email' && account.email !== contact.target)
    notifyOwner(identity, account, EMAIL_CHANGED)
  return { kind: 'changed' }
}
