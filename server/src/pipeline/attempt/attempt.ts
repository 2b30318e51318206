/** Tries the chains of a model, then those of its fallback, until one begins to answer. */
import type { AttemptRecord } from '../../core/calls/log-row.ts'
import type { Chain, Model } from '../../core/catalogue.ts'
import type { JsonObject } from '../../core/json.ts'
import type { ChainFailure } from '../../core/routing/health.ts'
import type { ReservedCall } from '../call.ts'
import { giveCredentialBack } from './claim-credential.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { AttemptFailure } from '../exchange/exchange-outcome.ts'
import type { Pipeline } from '../context.ts'
import { openExchange } from '../exchange/open-exchange.ts'
import type { ClientReply } from '../reply.ts'
import { mayFallBack, route, routeFallback } from './route.ts'
import { RouteSearch } from './try-routes.ts'

/** What all attempts together came to, and whether any request may have reached a vendor. */
export type Attempted = AttemptOutcome & { readonly sent: boolean }

export type AttemptOutcome =
  | {
      readonly kind: 'answering'
      readonly leg: Leg
      readonly exchange: Exchange
      readonly records: AttemptRecord[]
    }
  | { readonly kind: 'failed'; readonly failure: FinalFailure; readonly records: AttemptRecord[] }
  /** The client has gone; the exchange tells what the vendor made all the same. */
  | {
      readonly kind: 'gone'
      readonly leg: Leg
      readonly exchange: Exchange
      readonly records: AttemptRecord[]
    }
  /** The gateway stops, and nothing has reached the client. */
  | { readonly kind: 'stopped'; readonly records: AttemptRecord[] }
  /** Something inside the gateway broke; the call still ends as settled or abandoned. */
  | { readonly kind: 'broken'; readonly error: unknown; readonly records: AttemptRecord[] }

/** One chain of one model, with who pays for it. */
export interface Leg {
  readonly chain: Chain
  readonly model: Model
  readonly byok: boolean
  readonly why: AttemptRecord['why']
  /** The upstream could not read the signed reasoning of the history: it goes without. */
  readonly unsigned?: true
}

export type FinalFailure =
  | {
      readonly kind: 'upstream'
      readonly leg: Leg
      readonly failure: AttemptFailure
      readonly class: ChainFailure
      /** The request sent signed reasoning back. */
      readonly replayed: boolean
      /** How long this try took. */
      readonly waitedMs: number
    }
  | { readonly kind: 'rate-limited'; readonly retryAfterMs: number }
  | { readonly kind: 'no-chain' }
  /** The request cannot be said in any chain's protocol. */
  | { readonly kind: 'unconvertible'; readonly message: string; readonly details: JsonObject | undefined }

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
