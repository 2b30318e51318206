import type { Chain } from '../../core/catalogue.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { keepsAnswers } from '../../core/protocols/index.ts'
import { usableChains } from '../../core/routing/order.ts'
import type { StoredTurn, TurnContent } from '../../storage/stores/turns.ts'
import type { TransportFailure } from '../../upstream/upstream.ts'
import type { AuthenticatedCall, StoredRequest } from '../call.ts'
import { parseJson } from './classify.ts'
import { formRequest, isOwnPlace, placesOf, upstreamOf } from './dialect.ts'
import type { Pipeline } from '../context.ts'
import { showStored } from '../stored/show-stored.ts'
import type { Leg } from './leg.ts'

/** A response holds its whole answer, pictures included. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024

export interface Pinned {
  readonly turn: StoredTurn
  readonly pin: Extract<TurnContent, { kind: 'upstream' }>
  readonly wanted: StoredRequest
}

/** Asks the upstream that keeps a response, with the account there that made it. The model is called by its platform id. */
export async function forwardStored(
  pipeline: Pipeline,
  call: AuthenticatedCall,
  { turn, pin, wanted }: Pinned,
): Promise<{ readonly status: number; readonly body: Uint8Array }> {
  const leg = legTo(pipeline, turn, pin)
  const found = upstreamOf(leg, pipeline.catalogue())
  const { dialect, vendor, credential } = found
  const own = leg.byok ? await pipeline.directory.byok(call.account.id) : undefined
  const secret = leg.byok ? own?.get(leg.chain.vendorCode) : credential.secret
  const formed =
    secret === undefined || dialect.respond !== undefined
      ? undefined
      : formRequest(found, { chain: leg.chain, secret, operation: 'generate' })
  if (secret === undefined || formed === undefined) throw unreachable()
  const answer = await new Promise<Answer>((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let length = 0
    let status = 0
    const exchange = pipeline.upstream.open(
      {
        request: {
          method: METHODS[wanted.what],
          url: addressOf(formed.url, wanted),
          headers: formed.headers,
        },
        auth: dialect.auth,
        credential: secret,
        body: undefined,
        bodyLength: 0,
        timeouts: vendor.timeouts,
      },
      {
        head: (head) => {
          status = head.status
        },
        data: (chunk) => {
          length += chunk.byteLength
          if (length > ANSWER_BYTES_MAX) exchange.abort()
          else chunks.push(chunk)
        },
        end: () => resolve({ status, body: Buffer.concat(chunks) }),
        fail: (failure) => reject(transportError(failure)),
      },
    )
  })
  return shown(pipeline, call, { turn, wanted }, answer)
}

async function shown(
  pipeline: Pipeline,
  call: AuthenticatedCall,
  { turn, wanted }: Pick<Pinned, 'turn' | 'wanted'>,
  answer: Answer,
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

interface Answer {
  readonly status: number
  readonly body: Buffer
}

const METHODS = { response: 'GET', 'input-items': 'GET', delete: 'DELETE', cancel: 'POST' } as const

/** The chain that answered, or another one to the same account. */
function legTo(pipeline: Pipeline, turn: StoredTurn, { place, chainId }: Pinned['pin']): Leg {
  const catalogue = pipeline.catalogue()
  const leads = (chain: Chain): boolean => keepsAnswers(chain.protocol) && placesOf(chain).includes(place)
  const models = [...catalogue.models.values()].flatMap((model) =>
    usableChains(model, catalogue)
      .filter(leads)
      .map((chain) => ({ model, chain })),
  )
  const found = models.find(({ chain }) => chain.id === chainId) ?? models[0]
  if (found === undefined) throw unreachable()
  const model = catalogue.models.get(turn.modelId) ?? found.model
  return { chain: found.chain, model, byok: isOwnPlace(place), why: 'priority' }
}

function unreachable(): GatewayError {
  return new GatewayError(50201, { internal: 'the account upstream that keeps the response is gone' })
}

/** `…/responses` → `…/responses/{id}/…`, in front of a query the dialect may need. */
function addressOf(url: string, { id, what, query }: StoredRequest): string {
  const address = new URL(url)
  const below = what === 'input-items' ? '/input_items' : what === 'cancel' ? '/cancel' : ''
  address.pathname = `${address.pathname}/${encodeURIComponent(id)}${below}`
  for (const [name, value] of new URLSearchParams(query)) {
    // An answer that was made is read whole.
    if (name !== 'stream' && name !== 'starting_after') address.searchParams.append(name, value)
  }
  return address.href
}

function isCredentialRefusal(status: number): boolean {
  return status === 401 || status === 402 || status === 403
}

/** Charged was what had been sent when the call ended: an upstream that goes on with it makes more than that. */
function unpaid(): GatewayError {
  return new GatewayError(40000, {
    status: 409,
    message:
      'the provider went on with this response after its call had ended: it was not charged and cannot be read',
  })
}

function transportError({ kind, detail }: TransportFailure): GatewayError {
  return new GatewayError(kind.endsWith('timeout') ? 50401 : 50201, { internal: detail })
}
