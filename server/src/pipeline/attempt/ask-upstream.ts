/**
 * Asks upstreams small questions that cost nothing, such as a token count or a stored response: one chain after another,
 * in the loop that every call uses. A question takes no place on a credential and does not affect a chain's health.
 */
import type { Catalogue, Chain, CredentialSecret, Model } from '../../core/catalogue.ts'
import type { HttpRequest } from '../../core/http-request.ts'
import { readWhole, TransportError, type WholeAnswer } from '../../upstream/remote/read-answer.ts'
import type { Pipeline } from '../context.ts'
import type { AttemptFailure } from '../exchange/exchange-outcome.ts'
import { createHealthBoard } from '../instance/chains/health-board.ts'
import type { FinalFailure } from './attempt-outcome.ts'
import { classifyAttempt } from './classify.ts'
import { upstreamOf } from './dialect.ts'
import type { Leg } from './leg.ts'
import { UPSTREAM_FAILURES } from './failures-compared.ts'
import { ChainSearch, type SearchResult, type Tried, tryRoutes } from './try-routes.ts'

export interface Question {
  /** When the call came in, epoch ms. */
  readonly at: number
  readonly catalogue: Catalogue
  readonly model: Model
  /** In the order in which they are asked. */
  readonly chains: readonly Chain[]
  /** With the calling account's own credential. */
  readonly byok: boolean
  /** The request for one chain; undefined: the chain has no such operation, or may not be asked. */
  requestOver(leg: Leg): Promise<QuestionRequest | undefined>
  readonly answerBytesMax: number
  /** Anything else is a failure, and another chain is asked. */
  isAnswer(answer: WholeAnswer): boolean
}

export interface QuestionRequest {
  readonly request: Pick<HttpRequest, 'method' | 'url' | 'headers'>
  readonly secret: CredentialSecret
  /** None: the question is in the address. */
  readonly body?: { readonly chunks: readonly Uint8Array[]; readonly length: number }
}

type Parts = Pick<Pipeline, 'now' | 'telemetry' | 'upstream' | 'limits'>

/** Never throws for what an upstream does. */
export function askUpstream(
  pipeline: Parts,
  question: Question,
): Promise<SearchResult<WholeAnswer, FinalFailure>> {
  const { at, model, chains, byok } = question
  const search = new ChainSearch<WholeAnswer, FinalFailure>(
    { now: pipeline.now, telemetry: pipeline.telemetry, health: createHealthBoard() },
    { at },
    {
      ...UPSTREAM_FAILURES,
      tryOnce: (leg) => tryOnce(pipeline, question, leg),
      reportToChain: () => undefined,
      giveBack: () => Promise.resolve(),
      isOver: () => pipeline.now() - at >= pipeline.limits.answerDeadlineMs,
      pinned: false,
    },
  )
  const byokVendors = byok ? chains.map(({ vendorCode }) => vendorCode) : []
  const order = { chains, skipped: [], rateLimitedUntil: undefined }
  const funding = { kind: 'funded', byokVendors, otherwise: 'credits' } as const
  return tryRoutes(search, { requested: { model, funding, order, fallback: false }, fallback: undefined })
}

async function tryOnce(
  pipeline: Parts,
  question: Question,
  leg: Leg,
): Promise<Tried<WholeAnswer, FinalFailure>> {
  const asked = await question.requestOver(leg)
  if (asked === undefined)
    return { kind: 'failed', failure: { kind: 'no-chain' }, note: { outcome: 'not offered' } }
  const startedAt = pipeline.now()
  const answer = await ask(pipeline, question, leg, asked)
  if ('body' in answer && question.isAnswer(answer))
    return { kind: 'over', end: answer, note: { outcome: 'answered', status: answer.status } }
  const failure: AttemptFailure = 'body' in answer ? { kind: 'status', ...answer } : answer
  const failureClass = classifyAttempt(question.catalogue, leg, failure)
  const waitedMs = pipeline.now() - startedAt
  return {
    kind: 'failed',
    failure: { kind: 'upstream', leg, failure, class: failureClass, replayed: false, waitedMs },
    note: { outcome: failureClass.kind },
  }
}

async function ask(
  { upstream }: Parts,
  { catalogue, answerBytesMax }: Question,
  leg: Leg,
  { request, secret, body }: QuestionRequest,
): Promise<WholeAnswer | Extract<AttemptFailure, { kind: 'transport' }>> {
  const { vendor, dialect } = upstreamOf(leg, catalogue)
  try {
    return await readWhole(
      (call, sink) => upstream.open(call, sink),
      {
        request,
        auth: dialect.auth,
        credential: secret,
        body: body?.chunks,
        bodyLength: body?.length ?? 0,
        timeouts: vendor.timeouts,
      },
      answerBytesMax,
    )
  } catch (error) {
    if (error instanceof TransportError) return { kind: 'transport', transport: error.failure }
    throw error
  }
}
