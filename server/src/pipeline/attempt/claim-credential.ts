/**
 * The place a call takes on the credential of a chain, before it goes out over it
 * (docs/reference/contract.md#D-admission-22).
 */
import type { ClaimOperation, ClaimOutcome } from '../../core/ledger/operations.ts'
import type { Catalogue, Credential } from '../../core/catalogue.ts'
import type { CallId } from '../../core/ids.ts'
import type { Pipeline } from '../context.ts'
import type { Leg } from './leg.ts'

/** Of a call of any kind. */
interface Claimant {
  readonly callId: CallId
  readonly catalogue: Catalogue
}

/**
 * Takes a place, which the call holds until it ends or gives it back; unlimited credentials and the account's own cost
 * nothing. Asked again for the same credential it takes nothing more.
 */
export async function claimCredential(
  pipeline: Pick<Pipeline, 'now' | 'storage'>,
  call: Claimant,
  { leg, counts }: { readonly leg: Leg; readonly counts: ClaimOperation['counts'] },
): Promise<ClaimOutcome> {
  const credential = limitedCredential(call, leg)
  if (credential === undefined) return { kind: 'claimed' }
  return pipeline.storage.calls.claim({
    callId: call.callId,
    at: pipeline.now(),
    credentialId: credential.id,
    policy: credential.limits,
    counts,
  })
}

/** The call goes on over another chain, and would hold the place for as long as that takes. */
export async function giveCredentialBack(
  pipeline: Pick<Pipeline, 'storage'>,
  call: Claimant,
  leg: Leg,
): Promise<void> {
  const credential = limitedCredential(call, leg)
  if (credential === undefined) return
  await pipeline.storage.calls.unclaim({ callId: call.callId, credentialId: credential.id })
}

function limitedCredential({ catalogue }: Claimant, leg: Leg): Credential | undefined {
  const credential = leg.byok ? undefined : catalogue.credentials.get(leg.chain.credentialId)
  if (credential === undefined) return undefined
  const { concurrency, windows } = credential.limits
  return concurrency === undefined && windows.length === 0 ? undefined : credential
}
