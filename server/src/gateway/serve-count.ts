/** Counting the tokens of a request: free, held to the key's restrictions, answered by the upstream where it can. */
import type { Chain } from '../core/catalogue.ts'
import { decideRightToAsk } from '../core/admission/right-to-call.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import { protocolOf } from '../core/protocols/index.ts'
import { usableChains } from '../core/routing/order.ts'
import { standingOf } from '../core/routing/standing.ts'
import { authenticate, findHolderNow } from './authenticate.ts'
import type { IncomingCall, ReceivedCall, StagedCall } from './call.ts'
import { estimateInputTokens } from './count-tokens.ts'
import { demandVendors } from './own-credentials.ts'
import { placesOf } from './dialect.ts'
import { forwardCount } from './forward-count.ts'
import type { Gateway } from './gateway.ts'
import { recall } from './recall.ts'
import { receive, restrict } from './receive.ts'
import { refuse } from './refuse.ts'
import { refusalError } from './reserve.ts'
import type { ClientReply } from './reply.ts'

export async function serveCount(
  gateway: Gateway,
  incoming: IncomingCall,
  reply: ClientReply,
): Promise<void> {
  let call: StagedCall = incoming
  try {
    gateway.refuseWhenUnable()
    call = await authenticate(gateway, call)
    call = await receive(gateway, call)
    restrict(gateway, call)
    call = await recall(gateway, call)
    await checkRight(gateway, call)
    const answer = await count(gateway, call)
    reply.tellModel(call.modelId)
    reply.start({
      status: 200,
      headers: { 'content-type': 'application/json' },
      contentLength: Buffer.byteLength(answer),
    })
    reply.write(answer)
    reply.end()
    call.body.release()
  } catch (error) {
    await refuse(gateway, call, error, reply)
  }
}

/** Counting is free, but for those only who could call the model, and so often a minute (decisions, Admission). */
async function checkRight(gateway: Gateway, call: ReceivedCall): Promise<void> {
  const { account } = await findHolderNow(gateway, call.key.hash, call.at)
  if (account.status === 'suspended') throw new GatewayError(40303)
  const catalogue = gateway.catalogue()
  const model = catalogue.models.get(call.modelId)
  if (model?.status !== 'enabled') throw new GatewayError(50201)
  const vendors = demandVendors(usableChains(model, catalogue), catalogue)
  const refusal = decideRightToAsk(account, { ...model, ...vendors }, call.at)
  if (refusal !== undefined) throw refusalError(refusal)
  const retryAfterMs = gateway.countWindow(account.id, call.at)
  if (retryAfterMs !== undefined)
    throw new GatewayError(42902, { message: 'too many counts of tokens in a minute', retryAfterMs })
}

async function count(gateway: Gateway, call: ReceivedCall): Promise<string> {
  const catalogue = gateway.catalogue()
  const model = catalogue.models.get(call.modelId)
  if (model?.status !== 'enabled') throw new GatewayError(50201)
  const chains = usableChains(model, catalogue)
  if (chains.length === 0) throw new GatewayError(50201)
  // Nobody waits for a chain that rests: the gateway counts itself.
  const ready = chains.filter((chain) => standingOf(gateway.health.of(chain), gateway.now()).kind === 'ready')
  const forwarded = await forwardCount(gateway, call, { model, chains: reachable(call, ready) })
  return (
    forwarded ??
    JSON.stringify(
      protocolOf(call.endpoint.protocol).encodeTokenCount(await estimateInputTokens(gateway, call)),
    )
  )
}

/** What is kept here is known to no upstream, and what is kept upstream only there. */
function reachable({ past }: ReceivedCall, chains: readonly Chain[]): readonly Chain[] {
  if (past?.kind === 'kept') return []
  return past === undefined ? chains : chains.filter((chain) => placesOf(chain).includes(past.place))
}
