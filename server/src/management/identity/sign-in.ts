/** Sign-in: a proof of who somebody is, exchanged for a session. */
import { Secret } from '../../core/secret.ts'
import type { Account } from '../../storage/storage.ts'
import { hashPassword, verifyPassword } from '../passwords.ts'
import type { Identity } from './identity.ts'
import { openSession, type OpenedSession, type RequestOrigin } from './sessions.ts'

export type Login = { readonly email: string } | { readonly phone: string }

export type SignIn =
  | { readonly kind: 'signed-in'; readonly opened: OpenedSession; readonly account: Account }
  /** No such account, or not its password: nobody is told which. */
  | { readonly kind: 'refused' }
  /** Told only to whoever proved to be its owner. */
  | { readonly kind: 'suspended' }

export async function signInByPassword(
  identity: Identity,
  attempt: { readonly login: Login; readonly password: Secret },
  origin: RequestOrigin,
): Promise<SignIn> {
  const account = await identity.storage.accounts.findByLogin(attempt.login)
  if (!(await matches(account, attempt.password)) || account === undefined) return { kind: 'refused' }
  return enter(identity, account, origin)
}

async function enter(identity: Identity, account: Account, origin: RequestOrigin): Promise<SignIn> {
  if (account.status === 'suspended') return { kind: 'suspended' }
  const opened = await openSession(
    identity.storage,
    { ...origin, accountId: account.id, method: 'password' },
    identity.now(),
  )
  return { kind: 'signed-in', opened, account }
}

/** Takes as long for an account that does not exist, or has no password, as for one that has. */
async function matches(account: Account | undefined, password: Secret): Promise<boolean> {
  const passwordHash = account?.passwordHash
  if (passwordHash !== undefined) return verifyPassword(passwordHash, password)
  await verifyPassword(await unknownPasswordHash(), password)
  return false
}

let nobody: Promise<string> | undefined

/** A hash of the usual cost that stands for accounts that are not there. */
function unknownPasswordHash(): Promise<string> {
  nobody ??= hashPassword(new Secret('nobody has this password'))
  return nobody
}
