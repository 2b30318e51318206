/** Counting the tokens of a request: free, subject to the key's restrictions, answered by the upstream if possible. */
import type { Chain, Model } from '../core/catalogue.ts'
import { decideRightToAsk } from '../core/admission/right-to-call.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import { codecOf } from '../core/protocols/index.ts'
import { standingOf, usableChains } from '../core/routing/order.ts'
import { checkServed } from './stages/admit.ts'
import { authenticate, findHolderNow, restrict } from './stages/authenticate.ts'
import type { IncomingCall, ReceivedCall, StagedCall } from './call.ts'
import { estimateInputTokens } from './instance/count-tokens.ts'
import { upstreamAccountsOf } from './attempt/dialect.ts'
import { forwardCount, type ForwardCountParts } from './attempt/forward-count.ts'
import type { Pipeline } from './context.ts'
import { recall } from './stages/recall.ts'
import { receive } from './stages/receive.ts'
import { refuse, type RefuseParts } from './stages/refuse.ts'
import { refusalError } from './stages/reserve.ts'
import type { ClientReply } from './reply.ts'

export type ServeCountParts = RefuseParts &
  ForwardCountParts &
  Pick<
    Pipeline,
    | 'bodyBlocks'
    | 'bodyBudget'
    | 'bodyFiles'
    | 'catalogue'
    | 'conversions'
    | 'countWindow'
    | 'health'
    | 'models'
    | 'refuseWhenUnable'
    | 'tokens'
    | 'turns'
  >

export async function serveCount(
  pipeline: ServeCountParts,
  incoming: IncomingCall,
  reply: ClientReply,
): Promise<void> {
  let call: StagedCall = incoming
  try {
    pipeline.refuseWhenUnable()
    call = await authenticate(pipeline, call)
    call = await receive(pipeline, call)
    restrict(call)
    call = await recall(pipeline, call)
    const answer = await count(pipeline, call, await findCountable(pipeline, call))
    reply.setModel(call.modelId)
    reply.start({
      status: 200,
      headers: { 'content-type': 'application/json' },
      contentLength: Buffer.byteLength(answer),
    })
    reply.write(answer)
    reply.end()
    call.body.release()
  } catch (error) {
    await refuse(pipeline, call, error, reply)
  }
}

/**
 * Counting is free, but only for accounts that could call the model, and limited per minute
 * (docs/operating/charges.md#counting-tokens).
 */
async function findCountable(pipeline: ServeCountParts, call: ReceivedCall): Promise<Model> {
  const { account } = await findHolderNow(pipeline, call.key.hash, call.at)
  if (account.status === 'suspended') throw new GatewayError(40303)
  const { catalogue } = call
  const model = catalogue.models.get(call.modelId)
  if (model?.status !== 'enabled') throw new GatewayError(50201)
  checkServed(model, call, catalogue)
  const vendors = pipeline.models.vendors(model, catalogue)
  const refusal = decideRightToAsk(account, { ...model, ...vendors }, call.at)
  if (refusal !== undefined) throw refusalError(refusal, call.at)
  const retryAfterMs = pipeline.countWindow(account.id, call.at)
  if (retryAfterMs !== undefined)
    throw new GatewayError(42902, { message: 'too many token counts in a minute', retryAfterMs })
  return model
}

async function count(pipeline: ServeCountParts, call: ReceivedCall, model: Model): Promise<string> {
  const chains = usableChains(model, call.catalogue)
  if (chains.length === 0) throw new GatewayError(50201)
  // A chain in a cooldown is not asked: the gateway counts itself.
  const ready = chains.filter(
    (chain) => standingOf(pipeline.health.of(chain), pipeline.now()).kind === 'ready',
  )
  const forwarded = await forwardCount(pipeline, call, { model, chains: reachable(call, ready) })
  return (
    forwarded ??
    JSON.stringify(
      codecOf(call.endpoint.protocol).encodeTokenCount(await estimateInputTokens(pipeline, call)),
    )
  )
}

/** Upstreams do not have what is stored here, and only the upstream that stores a response has it. */
function reachable({ past }: ReceivedCall, chains: readonly Chain[]): readonly Chain[] {
  if (past?.kind === 'kept') return []
  return past === undefined
    ? chains
    : chains.filter((chain) => upstreamAccountsOf(chain).includes(past.place))
}
