import type { AttemptRecord, CallLogRow } from '../core/calls/log-row.ts'
import type { CallDescription, DescribedChain } from '../core/calls/recover.ts'
import { NO_USAGE } from '../core/canonical/usage.ts'
import type { Model } from '../core/catalogue.ts'
import { ZERO } from '../core/money.ts'
import type { AdmittedCall, ReceivedCall, StagedCall } from './call.ts'

/** The parts of a log row that are known before the call is sent anywhere; recovery starts from them. */
export function describeCall(call: AdmittedCall): CallDescription {
  return {
    requestId: call.requestId,
    createdAt: call.at,
    endpoint: call.endpoint.path,
    clientProtocol: call.endpoint.protocol,
    modelRequested: call.modelId,
    stream: call.stream,
    user: call.user,
    appId: appIdOf(call),
    customId: customIdOf(call),
    chains: describedChains(call),
  }
}

const describedModels = new WeakMap<Model, Readonly<Record<string, DescribedChain>>>()

/** Who answers on which chain, so that a recovered call can name its vendor. */
function describedChains({ model, fallback }: AdmittedCall): Readonly<Record<string, DescribedChain>> {
  const own = describedChainsOf(model)
  return fallback === undefined ? own : { ...own, ...describedChainsOf(fallback) }
}

function describedChainsOf(model: Model): Readonly<Record<string, DescribedChain>> {
  const known = describedModels.get(model)
  if (known !== undefined) return known
  const described = Object.fromEntries(
    model.chains.map(({ id, vendorCode, protocol }) => [
      String(id),
      { vendorCode, upstreamProtocol: protocol },
    ]),
  )
  describedModels.set(model, described)
  return described
}

/** A log row with everything this stage of the call knows; the rest says that nothing happened. */
export function baseLogRow(call: StagedCall, endedAt: number): CallLogRow {
  const received = 'scan' in call ? call : undefined
  return {
    callId: call.callId,
    requestId: call.requestId,
    createdAt: call.at,
    endedAt,
    endpoint: call.endpoint.path,
    clientProtocol: call.endpoint.protocol,
    upstreamProtocol: undefined,
    modelRequested: requestedOf(call, received),
    model: undefined,
    vendorCode: undefined,
    chainId: undefined,
    keyId: 'key' in call ? call.key.id : undefined,
    accountId: 'account' in call ? call.account.id : undefined,
    stream: received?.stream ?? false,
    httpStatus: 0,
    code: undefined,
    user: received?.user,
    appId: appIdOf(call),
    customId: customIdOf(call),
    usage: NO_USAGE,
    usageSource: undefined,
    secondsDeclared: undefined,
    secondsProduced: undefined,
    images: 0,
    amount: ZERO,
    deducted: ZERO,
    recipe: undefined,
    subscriptionCovered: false,
    byok: false,
    capped: false,
    droppedFields: [],
    attempts: NO_ATTEMPTS,
    firstByteMs: undefined,
    durationMs: endedAt - call.at,
    clientGone: false,
    ending: 'refused',
  }
}

const NO_ATTEMPTS: readonly AttemptRecord[] = []
/** Logged texts of the client are cut: a log is no place to store data. */
const LOGGED_TEXT_MAX = 256

function requestedOf(
  call: StagedCall,
  received: Pick<ReceivedCall, 'modelId'> | undefined,
): string | undefined {
  return bounded(received?.modelId ?? call.endpoint.pathModel)
}

/** `Gw-App-Id`, else the product the User-Agent names first (contract §4.4). */
function appIdOf(call: StagedCall): string | undefined {
  const named = call.headers['gw-app-id']
  if (named !== undefined && named !== '') return bounded(named)
  const [product] = (call.headers['user-agent'] ?? '').trim().split(/[\s/(;,]/, 1)
  return product === undefined || product === '' ? undefined : bounded(product)
}

function customIdOf(call: StagedCall): string | undefined {
  return bounded(call.headers['gw-custom-id'])
}

function bounded(text: string | undefined): string | undefined {
  return text === undefined || text.length <= LOGGED_TEXT_MAX ? text : text.slice(0, LOGGED_TEXT_MAX)
}
