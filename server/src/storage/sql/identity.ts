/** The parts of the identity port over SQL. */
import type { IdentityStore } from '../stores/identity.ts'
import { createAttemptStore } from './identity/attempts.ts'
import { createAuthenticatorStore } from './identity/authenticators.ts'
import { createBudgetStore } from './identity/budgets.ts'
import { createChallengeStore } from './identity/challenges.ts'
import { createCodeStore } from './identity/codes.ts'
import { createLinkStore } from './identity/links.ts'
import { createPasskeyStore } from './identity/passkeys.ts'
import { createSessionStore } from './identity/sessions.ts'
import type { IdentityStoreOptions } from './identity/options.ts'

/** A network from which an account was not used for this long is forgotten. */
const PLACE_LIFE_MS = 90 * 86_400_000
/** How long an invitation is still shown after it was accepted, revoked or expired. */
const ENDED_INVITATION_LIFE_MS = 30 * 86_400_000

export function createIdentityStore(options: IdentityStoreOptions): IdentityStore {
  return {
    sessions: createSessionStore(options),
    codes: createCodeStore(options),
    attempts: createAttemptStore(options),
    budgets: createBudgetStore(options),
    challenges: createChallengeStore(options),
    factors: { ...createAuthenticatorStore(options), ...createPasskeyStore(options) },
    links: createLinkStore(options),
    expire: (at) =>
      options.write(async (transaction) => {
        const before = BigInt(at)
        const ended = [
          transaction
            .deleteFrom('sessions')
            .where((row) => row.or([row('idle_ends_at', '<', before), row('ends_at', '<', before)])),
          transaction.deleteFrom('sign_in_places').where('seen_at', '<', before - BigInt(PLACE_LIFE_MS)),
          transaction.deleteFrom('sent_codes').where('ends_at', '<', before),
          transaction.deleteFrom('message_budgets').where('ends_at', '<', before),
          transaction.deleteFrom('attempts').where('empty_at', '<', before),
          transaction.deleteFrom('identity_challenges').where('ends_at', '<', before),
          transaction
            .deleteFrom('invitations')
            .where('expires_at', '<', before - BigInt(ENDED_INVITATION_LIFE_MS)),
        ]
        let rows = 0n
        for (const each of ended) rows += (await each.executeTakeFirst()).numDeletedRows
        return { value: Number(rows), changes: [] }
      }),
  }
}
