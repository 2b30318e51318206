/**
 * A link that signs in its opener, once: for the owner of a new gateway, and for people with no other way to sign in.
 * Created on the machine, never by a request.
 */
import type { Secret } from '../../../core/secret.ts'
import type { AuditActor } from '../../../storage/stores/audit.ts'
import type { Storage } from '../../../storage/storage.ts'
import { hashToken, LINK_TOKEN_PREFIX, makeToken } from './tokens.ts'
import type { Account } from '../../../storage/stores/accounts.ts'

/** Long enough to be passed on, short enough to be harmless in a log. */
const LINK_LIFE_MS = 86_400_000

export interface SignInLink {
  /** For `signInLinkUrl`. Shown once. */
  readonly token: Secret
  /** Epoch ms. */
  readonly endsAt: number
}

export async function makeSignInLink(
  storage: Pick<Storage, 'audit'>,
  account: Pick<Account, 'id'>,
  actor: AuditActor & { readonly at: number },
): Promise<SignInLink> {
  return storage.audit.act(async (stores) => {
    const link = await putSignInLink(stores, account, actor.at)
    const changes = [{ field: 'sign_in_link', from: null, to: new Date(link.endsAt).toISOString() }]
    return {
      value: link,
      act: { at: actor.at, actor, action: 'account.make-sign-in-link', subject: account.id, changes },
    }
  })
}

/** Ends the account's older links. For the first start, before there is anything in the audit log. */
export async function putSignInLink(
  { identity }: { readonly identity: Pick<Storage['identity'], 'challenges'> },
  account: Pick<Account, 'id'>,
  at: number,
): Promise<SignInLink> {
  const token = makeToken(LINK_TOKEN_PREFIX)
  const endsAt = at + LINK_LIFE_MS
  await identity.challenges.putOnly(hashToken(token.unwrap()), {
    kind: 'sign-in-link',
    accountId: account.id,
    detail: '{}',
    triesLeft: 1,
    createdAt: at,
    endsAt,
  })
  return { token, endsAt }
}

/** The console's address for a link. */
export function signInLinkUrl(baseUrl: string, { token }: Pick<SignInLink, 'token'>): string {
  return `${baseUrl}/console/setup?token=${token.unwrap()}`
}
