import { type CallLogRow, EMPTY_LOG_ROW } from '../../core/ledger/log-row.ts'
import type { CallDescription, DescribedChain } from '../../core/calls/recover.ts'
import type { ModelId } from '../../core/ids.ts'
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
export function describeCall(call: DescribedCall & Partial<Pick<AdmittedCall, 'demand'>>): CallDescription {
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
    requests: call.demand?.estimate.pieces?.requests,
    chains: describedChains(call),
  }
}

/** Who answers on which chain, so that a recovered call can name its vendor. */
function describedChains({
  model,
  fallback,
}: Pick<AdmittedCall, 'model' | 'fallback'>): Readonly<Record<string, DescribedChain>> {
  const described: Record<string, DescribedChain> = {}
  for (const { id, vendorCode, protocol } of [...model.chains, ...(fallback?.chains ?? [])])
    described[String(id)] = { vendorCode, upstreamProtocol: protocol }
  return described
}

/** A log row with everything this stage of the call knows; the rest says that nothing happened. */
export function baseLogRow(call: LoggedCall, endedAt: number): CallLogRow {
  return {
    ...EMPTY_LOG_ROW,
    callId: call.callId,
    requestId: call.requestId,
    createdAt: call.at,
    endedAt,
    endpoint: call.endpoint.path,
    clientProtocol: call.endpoint.protocol,
    modelRequested: bounded(call.modelId ?? call.endpoint.pathModel),
    keyId: call.key?.id,
    accountId: call.account?.id,
    stream: call.stream ?? false,
    user: call.user,
    appId: appIdOf(call),
    customId: customIdOf(call),
    durationMs: endedAt - call.at,
  }
}

/** Logged texts of the client are cut: a log is no place to store data. */
const LOGGED_TEXT_MAX = 256

/** `Gw-App-Id`, else the product the User-Agent names first (docs/reference/contract.md#1-68). */
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
