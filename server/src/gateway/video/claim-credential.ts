/** The place an order takes on the credential of a chain, before it goes out over it (decisions, Admission). */
import type { ClaimOutcome } from '../../core/calls/operations.ts'
import type { Credential } from '../../core/catalogue.ts'
import type { Leg } from '../attempt.ts'
import type { Gateway } from '../gateway.ts'
import type { ReservedVideo } from './video-call.ts'

/**
 * Takes a place for one video of that many seconds, which the call holds until its task ends; unlimited credentials and
 * the account's own cost nothing. Asked again for the same credential it takes nothing more.
 */
export async function claimCredential(
  gateway: Gateway,
  order: ReservedVideo,
  { leg, videoSeconds }: { readonly leg: Leg; readonly videoSeconds: number },
): Promise<ClaimOutcome> {
  const credential = limitedCredential(order, leg)
  if (credential === undefined) return { kind: 'claimed' }
  return gateway.storage.calls.claim({
    callId: order.callId,
    at: gateway.now(),
    credentialId: credential.id,
    policy: credential.limits,
    counts: { requests: 1, images: 0, videos: 1, videoSeconds },
  })
}

/** The order goes on over another chain, whose task would hold the place for as long as it runs. */
export async function giveCredentialBack(gateway: Gateway, order: ReservedVideo, leg: Leg): Promise<void> {
  const credential = limitedCredential(order, leg)
  if (credential === undefined) return
  await gateway.storage.calls.unclaim({ callId: order.callId, credentialId: credential.id })
}

function limitedCredential(order: ReservedVideo, leg: Leg): Credential | undefined {
  const credential = leg.byok ? undefined : order.catalogue.credentials.get(leg.chain.credentialId)
  if (credential === undefined) return undefined
  const { concurrency, windows } = credential.limits
  return concurrency === undefined && windows.length === 0 ? undefined : credential
}
