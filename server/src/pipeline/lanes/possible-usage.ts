import { makesOutputTokens } from '../../core/catalogue.ts'
import type { Usage } from '../../core/canonical/usage.ts'
import { boundUsage, type PossibleUsage, ROUNDS_OF_TOOLS } from '../../core/metering/possible-usage.ts'
import type { ReservedCall } from '../call.ts'
import type { Leg } from '../attempt/leg.ts'

/** What of a call's reported usage can be, by its model, its request and the bytes of its answer so far. */
export function possibleUsage(
  { scan, endpoint }: Pick<ReservedCall, 'scan' | 'endpoint'>,
  { leg, answerBytes }: { readonly leg: Pick<Leg, 'model'>; readonly answerBytes: number },
  reported: Usage,
): PossibleUsage {
  const { bodyBytes, items, repeatedBytes, candidates = 1, extras } = scan
  if (!makesOutputTokens(endpoint.protocol)) {
    // Many texts go in one request, each as long as a context: what was sent is the bound, where all of it was seen.
    const contextTokens = extras.unseenInput ? leg.model.contextTokens : 0
    return boundUsage(reported, {
      contextTokens,
      maxOutputTokens: 0,
      candidates: 1,
      requestBytes: bodyBytes + items * repeatedBytes,
      answerBytes: 0,
      rounds: 1,
    })
  }
  return boundUsage(reported, {
    contextTokens: leg.model.contextTokens,
    maxOutputTokens: leg.model.maxOutputTokens,
    candidates,
    requestBytes: bodyBytes,
    answerBytes,
    rounds: extras.toolUsesMax > 0 ? Math.max(extras.toolUsesMax, ROUNDS_OF_TOOLS) + 1 : 1,
  })
}
