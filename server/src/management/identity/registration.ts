/** Registration: an account for a person who proves to own an address or a number. */
import type { Secret } from '../../core/secret.ts'
import { StorageConflict } from '../../storage/failures/conflict.ts'
import { createAccount } from '../accounts/accounts.ts'
import { hashPassword } from '../accounts/passwords.ts'
import { type Contact, loginOf } from './contact.ts'
import type { Identity, TooMany } from './identity.ts'
import type { RequestOrigin } from './sessions/sessions.ts'
import { mayRegister, mayRegisterBy } from './may-register.ts'
import { begin, comingFrom, guardTries, type SignedIn } from './sign-in.ts'

export type Registration =
  | SignedIn
  | { readonly kind: 'wrong-code' }
  /** Only revealed to the proven owner of the address. */
  | { readonly kind: 'taken' }
  /** Registration is closed, or only open to invited people. */
  | { readonly kind: 'closed' }
  | TooMany

export async function register(
  identity: Identity,
  request: { readonly contact: Contact; readonly code: Secret; readonly password: Secret },
  origin: RequestOrigin,
): Promise<Registration> {
  const { storage } = identity
  const { contact } = request
  if (!mayRegisterBy(identity, contact.channel)) return refused(identity, origin)
  const use = { purpose: 'register', target: contact.target, accountId: undefined } as const
  const { address } = origin
  const tried = { contact, account: undefined, address, method: 'code' } as const
  const guarded = await guardTries(identity, tried, () =>
    storage.identity.codes.redeem(use, request.code, comingFrom(identity, origin)),
  )
  if (guarded.kind === 'too-many') return guarded
  if (guarded.kind === 'wrong') return { kind: 'wrong-code' }
  // The proven owner of the address may know that they are not invited, or no longer.
  if (!(await mayRegister(identity, contact))) return refused(identity, origin)
  const passwordHash = await hashPassword(request.password)
  const made = await makeAccount(identity, { ...loginOf(contact), passwordHash })
  if (!made) return { kind: 'taken' }
  const account = await storage.accounts.findByLogin(loginOf(contact))
  if (account === undefined) throw new Error('an account vanished right after it was made')
  return begin(identity, account, { ...origin, method: 'code', secondFactor: false })
}

function refused({ security }: Identity, { address }: RequestOrigin): Registration {
  security.note('registration.refused', { address })
  return { kind: 'closed' }
}

async function makeAccount(
  { storage, now }: Identity,
  fields: { readonly passwordHash: string; readonly email?: string; readonly phone?: string },
): Promise<boolean> {
  try {
    await createAccount(storage, fields, now())
    return true
  } catch (error) {
    if (error instanceof StorageConflict) return false
    throw error
  }
}
