import type { Storage } from '../../../storage/storage.ts'
import { eachAccount } from '../../accounts/accounts.ts'
import { putSignInLink, type SignInLink } from './sign-in-link.ts'
import type { Account } from '../../../storage/stores/accounts.ts'

/** For the first administrator, if no administrator could sign in otherwise; undefined: one can. */
export async function makeSetupLink(
  storage: Pick<Storage, 'accounts' | 'identity'>,
  at: number,
): Promise<SignInLink | undefined> {
  const admin = await findFirstAdmin(storage)
  if (admin === undefined || admin.passwordHash !== undefined) return undefined
  return putSignInLink(storage, admin, at)
}

/** The oldest account of an administrator. */
export async function findFirstAdmin(storage: Pick<Storage, 'accounts'>): Promise<Account | undefined> {
  for await (const account of eachAccount(storage)) {
    if (account.kind === 'person' && account.role === 'admin' && account.status === 'active') return account
  }
  return undefined
}
