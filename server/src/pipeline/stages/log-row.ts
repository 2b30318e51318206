import type { AttemptRecord, CallLogRow } from '../../core/calls/log-row.ts'
import type { CallDescription, DescribedChain } from '../../core/calls/recover.ts'
import { NO_USAGE } from '../../core/canonical/usage.ts'
import type { Model } from '../../core/catalogue.ts'
import type { ModelId } from '../../core/ids.ts'
import { ZERO } from '../../core/money.ts'
import type { AdmittedCall, LoggedCall } from '../call.ts'

/** A call of any kind once its model is known. */
export interface DescribedCall extends LoggedCall, Pick<AdmittedCall, 'model' | 'fallback'> {
  readonly modelId: ModelId
  readonly stream: boolean
  readonly user: string | undefined
  /** Of a video. */
  readonly secondsDeclared?: number | undefined
}

/** The parts of a log row that are known before the call is sent anywhere; recovery starts from them. */
export function describeCall(call: DescribedCall): CallDescription {
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
    secondsDeclared: call.secondsDeclared,
    chains: describedChains(call),
  }
}

const describedModels = new WeakMap<Model, Readonly<Record<string, DescribedChain>>>()

/** Who answers on which chain, so that a recovered call can name its vendor. */
export function describedChains({
  model,
  fallback,
}: Pick<AdmittedCall, 'model' | 'fallback'>): Readonly<Record<string, DescribedChain>> {
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
export function baseLogRow(call: LoggedCall, endedAt: number): CallLogRow {
  return {
    callId: call.callId,
    requestId: call.requestId,
    createdAt: call.at,
    endedAt,
    endpoint: call.endpoint.path,
    clientProtocol: call.endpoint.protocol,
    upstreamProtocol: undefined,
    modelRequested: bounded(call.modelId ?? call.endpoint.pathModel),
    model: undefined,
    vendorCode: undefined,
    chainId: undefined,
    keyId: call.key?.id,
    accountId: call.account?.id,
    stream: call.stream ?? false,
    httpStatus: 0,
    code: undefined,
    user: call.user,
    appId: appIdOf(call),
    customId: customIdOf(call),
    usage: NO_USAGE,
    usageSource: undefined,
    usageSuspect: undefined,
    secondsDeclared: undefined,
    secondsProduced: undefined,
    images: 0,
    amount: ZERO,
    deducted: ZERO,
    owed: ZERO,
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
    recovered: false,
  }
}

const NO_ATTEMPTS: readonly AttemptRecord[] = []
/** Logged texts of the client are cut: a log is no place to store data. */
const LOGGED_TEXT_MAX = 256

/** `Gw-App-Id`, else the product the User-Agent names first (contract §4.4). */
export function appIdOf(call: Pick<LoggedCall, 'headers'>): string | undefined {
  const named = call.headers['gw-app-id']
  if (named !== undefined && named !== '') return bounded(named)
  const [product] = (call.headers['user-agent'] ?? '').trim().split(/[\s/(;,]/, 1)
  return product === undefined || product === '' ? undefined : bounded(product)
}

export function customIdOf(call: Pick<LoggedCall, 'headers'>): string | undefined {
  return bounded(call.headers['gw-custom-id'])
}

function bounded(text: string | undefined): string | undefined {
  return text === undefined || text.length <= LOGGED_TEXT_MAX ? text : text.slice(0, LOGGED_TEXT_MAX)
}
