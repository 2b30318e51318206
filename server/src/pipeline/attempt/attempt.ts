/** Tries the chains of a model, then those of its fallback, until one begins to answer. */
import type { ReservedCall } from '../call.ts'
import { giveCredentialBack } from './claim-credential.ts'
import type { Pipeline } from '../context.ts'
import { openExchange } from '../exchange/open-exchange.ts'
import type { ClientReply } from '../reply.ts'
import { mayFallBack, route, routeFallback } from './route.ts'
import { RouteSearch } from './try-routes.ts'
import type { Attempted, AttemptOutcome } from './attempt-outcome.ts'

export async function attempt(
  pipeline: Pipeline,
  call: ReservedCall,
  reply: ClientReply,
): Promise<Attempted> {
  const search = new RouteSearch(pipeline, call, {
    open: (leg) => openExchange(pipeline, call, leg, reply),
    giveBack: (leg) => giveCredentialBack(pipeline, call, leg),
    clientGone: () => reply.gone,
  })
  try {
    const outcome = await tryRoutes(pipeline, call, search)
    return { ...outcome, sent: search.sent }
  } catch (error) {
    return { ...search.broken(error), sent: search.sent }
  } finally {
    search.close()
  }
}

/**
 * A chain that rests from failures is the last resort of a call, so the fallback model goes before it. When that fails as
 * well, the client gets the original error (contract §1.7).
 */
async function tryRoutes(
  pipeline: Pipeline,
  call: ReservedCall,
  search: RouteSearch,
): Promise<AttemptOutcome> {
  const requested = route(pipeline, call)
  if (!mayFallBack(call)) return search.tryRoute(requested)
  const first = await search.tryRoute(requested, 'before-last-resorts')
  if (first.kind !== 'failed' || !search.fallbackAllowed(first.failure)) return first
  const second = routeFallback(pipeline, call)
  const answered = second === undefined ? undefined : await search.tryRoute(second)
  if (answered !== undefined && answered.kind !== 'failed') return answered
  return search.isSpent ? first : search.tryRoute(requested)
}
