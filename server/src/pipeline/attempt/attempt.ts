/** Tries the chains of a model, then those of its fallback, until one begins to answer. */
import type { ReservedCall } from '../call.ts'
import { openExchange, type OpenExchangeParts } from '../exchange/open-exchange.ts'
import type { ClientReply } from '../reply.ts'
import type { Attempted } from './attempt-outcome.ts'
import { giveCredentialBack } from './claim-credential.ts'
import { ExchangeSearch } from './exchange-search.ts'
import { mayFallBack, route, routeFallback, type RouteParts } from './route.ts'
import { tryRoutes } from './try-routes.ts'

export type AttemptParts = OpenExchangeParts & RouteParts

export async function attempt(
  pipeline: AttemptParts,
  call: ReservedCall,
  reply: ClientReply,
): Promise<Attempted> {
  const search = new ExchangeSearch(pipeline, call, {
    open: (leg) => openExchange(pipeline, call, leg, reply),
    giveBack: (leg) => giveCredentialBack(pipeline, call, leg),
    clientGone: () => reply.gone,
  })
  try {
    const result = await tryRoutes(search.chains, {
      requested: route(pipeline, call),
      fallback: mayFallBack(call) ? () => routeFallback(pipeline, call) : undefined,
    })
    return { ...search.outcomeOf(result), sent: search.sent }
  } catch (error) {
    return { ...search.broken(error), sent: search.sent }
  } finally {
    search.close()
  }
}
