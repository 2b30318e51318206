import type { Identity } from '../identity.ts'
import { enter, type SignedIn } from '../sign-in.ts'
import type { RequestOrigin } from './sessions.ts'
import { hashToken } from './tokens.ts'

/** The link replaces the first factor; a second factor is required all the same. */
export async function signInByLink(
  identity: Identity,
  token: string,
  origin: RequestOrigin,
): Promise<SignedIn | { readonly kind: 'refused' }> {
  const { storage, security } = identity
  const link = await storage.identity.challenges.take(hashToken(token), 'sign-in-link', identity.now())
  const account = link?.accountId === undefined ? undefined : await storage.accounts.find(link.accountId)
  if (account === undefined) {
    security.note('sign-in.failed', { address: origin.address, method: 'link' })
    return { kind: 'refused' }
  }
  return enter(identity, account, { ...origin, method: 'link' })
}
