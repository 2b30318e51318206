/** The key that the console's playground calls with: limited to the person's session. */
import type { AccountId, KeyId, MemberId } from '../../core/ids.ts'
import type { Secret } from '../../core/secret.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Session } from '../../storage/stores/identity.ts'
import { keyOf, makeKeySecret, UNRESTRICTED_KEY } from './keys.ts'

/** A page that is open for longer requests another one. */
const LIFE_MS = 3_600_000

export interface IssuedSessionKey {
  readonly id: KeyId
  /** Shown once, stored nowhere. */
  readonly plaintext: Secret
  /** Epoch ms. */
  readonly expiresAt: number
}

/** Replaces the person's former session key for this account. undefined: the session has ended meanwhile. */
export async function issueSessionKey(
  storage: Pick<Storage, 'keys' | 'catalogue'>,
  {
    accountId,
    memberId,
    session,
  }: {
    readonly accountId: AccountId
    /** In an organisation, the member whose caps apply to the calls. */
    readonly memberId: MemberId | undefined
    readonly session: Session
  },
  at: number,
): Promise<IssuedSessionKey | undefined> {
  const { keyPrefix } = (await storage.catalogue.read()).settings
  const plaintext = makeKeySecret(keyPrefix)
  const expiresAt = Math.min(at + LIFE_MS, session.idleEndsAt, session.endsAt)
  const request = { ...UNRESTRICTED_KEY, name: 'Playground', accountId, memberId, expiresAt }
  const key = keyOf(request, plaintext, keyPrefix, at)
  const id = await storage.keys.putForSession(
    { ...key, sessionId: session.id, expiresAt, status: 'enabled' },
    at,
  )
  return id === undefined ? undefined : { id, plaintext, expiresAt }
}
