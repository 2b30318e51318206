import type { Catalogue, Chain, Model } from '../../core/catalogue.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { keepsAnswers } from '../../core/protocols/index.ts'
import { usableChains } from '../../core/routing/order.ts'
import type { StoredTurn, TurnContent } from '../../storage/stores/turns.ts'
import type { WholeAnswer } from '../../upstream/remote/read-answer.ts'
import type { AuthenticatedCall, StoredRequest } from '../call.ts'
import { askUpstream, type QuestionRequest } from './ask-upstream.ts'
import type { FinalFailure } from './attempt-outcome.ts'
import { parseJson } from './classify.ts'
import { formRequest, isOwnPlace, upstreamAccountsOf, upstreamOf } from './dialect.ts'
import type { Pipeline } from '../context.ts'
import { showStored } from '../stored/show-stored.ts'
import type { Leg } from './leg.ts'
import { isCredentialRefusal } from './failures-compared.ts'

export type ForwardStoredParts = Pick<
  Pipeline,
  'catalogue' | 'conversions' | 'directory' | 'limits' | 'now' | 'telemetry' | 'upstream'
>

/** A response holds its whole answer, images included. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024

export interface Pinned {
  readonly turn: StoredTurn
  readonly pin: Extract<TurnContent, { kind: 'upstream' }>
  readonly wanted: StoredRequest
}

/** Asks the upstream that keeps a response, with the account there that made it. The model is called by its platform id. */
export async function forwardStored(
  pipeline: ForwardStoredParts,
  call: AuthenticatedCall,
  { turn, pin, wanted }: Pinned,
): Promise<{ readonly status: number; readonly body: Uint8Array }> {
  const { catalogue } = call
  const { chain, model } = keeperOf(catalogue, turn, pin)
  const result = await askUpstream(pipeline, {
    at: call.at,
    catalogue,
    model,
    // Other chains to the account would ask the same upstream.
    chains: [chain],
    byok: isOwnPlace(pin.place),
    requestOver: (leg) => storedRequest(pipeline, call, { leg, catalogue, wanted }),
    answerBytesMax: ANSWER_BYTES_MAX,
    isAnswer: () => true,
  })
  if (result.kind === 'failed') throw errorOf(result.failure)
  return shown(pipeline, call, { turn, wanted }, result.end)
}

async function storedRequest(
  { directory }: Pick<Pipeline, 'directory'>,
  { account }: Pick<AuthenticatedCall, 'account'>,
  asked: { readonly leg: Leg; readonly catalogue: Catalogue; readonly wanted: StoredRequest },
): Promise<QuestionRequest | undefined> {
  const { leg, catalogue, wanted } = asked
  const found = upstreamOf(leg, catalogue)
  if (found.dialect.respond !== undefined) return undefined
  const own = leg.byok ? await directory.byok(account.id) : undefined
  const secret = leg.byok ? own?.get(leg.chain.vendorCode) : found.credential.secret
  if (secret === undefined) return undefined
  const formed = formRequest(found, { chain: leg.chain, secret, operation: 'generate' })
  if (formed === undefined) return undefined
  const { url, headers } = formed
  return { request: { method: METHODS[wanted.what], url: addressOf(url, wanted), headers }, secret }
}

async function shown(
  pipeline: Pick<Pipeline, 'conversions'>,
  call: AuthenticatedCall,
  { turn, wanted }: Pick<Pinned, 'turn' | 'wanted'>,
  answer: WholeAnswer,
): Promise<{ readonly status: number; readonly body: Uint8Array }> {
  const { status } = answer
  const { body, isRunning } = await showStored(pipeline, call, {
    kind: 'forwarded',
    body: answer.body,
    model: turn.modelId,
  })
  if (isCredentialRefusal(status)) {
    throw new GatewayError(50201, {
      upstreamBody: parseJson(answer.body) ?? null,
      internal: 'the upstream refused our credential',
    })
  }
  if (body === undefined)
    throw new GatewayError(50201, { internal: `the answer is not JSON, status ${status}` })
  if (wanted.what === 'response' && isRunning) throw unpaid()
  return { status, body }
}

const METHODS = { response: 'GET', 'input-items': 'GET', delete: 'DELETE', cancel: 'POST' } as const

/** The chain that answered, or another one to the same account. */
function keeperOf(
  catalogue: Catalogue,
  turn: StoredTurn,
  { place, chainId }: Pinned['pin'],
): { readonly chain: Chain; readonly model: Model } {
  const leads = (chain: Chain): boolean =>
    keepsAnswers(chain.protocol) && upstreamAccountsOf(chain).includes(place)
  const models = [...catalogue.models.values()].flatMap((model) =>
    usableChains(model, catalogue)
      .filter(leads)
      .map((chain) => ({ model, chain })),
  )
  const found = models.find(({ chain }) => chain.id === chainId) ?? models[0]
  if (found === undefined) throw unreachable()
  return { chain: found.chain, model: catalogue.models.get(turn.modelId) ?? found.model }
}

function unreachable(): GatewayError {
  return new GatewayError(50201, { internal: 'the account upstream that keeps the response is gone' })
}

/** `…/responses` → `…/responses/{id}/…`, before a query the dialect may need. */
function addressOf(url: string, { id, what, query }: StoredRequest): string {
  const address = new URL(url)
  const below = what === 'input-items' ? '/input_items' : what === 'cancel' ? '/cancel' : ''
  address.pathname = `${address.pathname}/${encodeURIComponent(id)}${below}`
  for (const [name, value] of new URLSearchParams(query)) {
    // A finished answer is read as a whole.
    if (name !== 'stream' && name !== 'starting_after') address.searchParams.append(name, value)
  }
  return address.href
}

/** The call was charged for what had been sent when it ended; an upstream that continued has produced more than that. */
function unpaid(): GatewayError {
  return new GatewayError(40000, {
    status: 409,
    message:
      'the provider went on with this response after its call had ended: it was not charged and cannot be read',
  })
}

function errorOf(failure: FinalFailure): GatewayError {
  if (failure.kind !== 'upstream' || failure.failure.kind !== 'transport') return unreachable()
  const { kind, detail } = failure.failure.transport
  return new GatewayError(kind.endsWith('timeout') ? 50401 : 50201, { internal: detail })
}
