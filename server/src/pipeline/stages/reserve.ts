import type { Refusal, RefusingLimit, ReserveOperation } from '../../core/ledger/operations.ts'
import type { CallDescription, DescribedChain } from '../../core/ledger/call-description.ts'
import type { Catalogue } from '../../core/catalogue.ts'
import { GatewayError, type GatewayErrorDetails } from '../../core/errors/gateway-error.ts'
import type { ModelId } from '../../core/ids.ts'
import type { DimensionRule } from '../../core/limits/dimension-rule.ts'
import { DIMENSION_RULES } from '../../core/limits/dimensions/index.ts'
import { type AdmittedCall, advance, type LoggedCall, type ReservedCall, type Staged } from '../call.ts'
import type { Account } from '../../storage/stores/accounts.ts'
import type { Key } from '../../storage/stores/keys.ts'
import type { Pipeline } from '../context.ts'
import { rateLimitHeaders } from '../headers.ts'
import type { EndpointKind } from '../kinds/kind.ts'
import { countsOf } from './estimate.ts'
import { appIdOf, customIdOf } from './log-row.ts'

/** A call of any kind whose demand is known. */
export interface Reservable
  extends DescribedCall,
    Staged,
    Pick<AdmittedCall, 'callId' | 'demand' | 'fallbackDemand'> {
  readonly key: Key
  readonly account: Account
  readonly catalogue: Catalogue
}

/**
 * One storage verb judges levels and the right to call on fresh rows and takes windows, slot and hold together, all or
 * nothing (docs/reference/contract.md#D-admission-11). The fallback model is admitted and funded in the same transaction.
 */
export function reserve<Call extends Reservable>(
  pipeline: Pick<Pipeline, 'monthOf' | 'instanceId' | 'storage'>,
  call: Call,
  kind: EndpointKind,
): Promise<Omit<Call, 'stage'> & Reserved> {
  return pipeline.storage.calls.reserve(reservation(pipeline, call, kind)).then((outcome) => {
    if (outcome.kind === 'refused') throw refusalError(outcome.refusal, call.at)
    return advance(call, { stage: 'reserved', reservation: outcome })
  })
}

interface Reserved {
  readonly stage: 'reserved'
  readonly reservation: ReservedCall['reservation']
}

/** The operation for the store. */
export function reservation(
  pipeline: Pick<Pipeline, 'monthOf' | 'instanceId'>,
  call: Reservable,
  kind: EndpointKind,
): ReserveOperation {
  const month = pipeline.monthOf(call.at, call.catalogue.settings.timezone)
  return {
    kind: 'reserve',
    callId: call.callId,
    instanceId: pipeline.instanceId,
    at: call.at,
    keyId: call.key.id,
    accountId: call.account.id,
    counts: countsOf(kind, call.demand.estimate),
    model: call.demand,
    fallback: call.fallbackDemand,
    defaultPolicy: call.catalogue.settings.limits,
    monthStart: month.from,
    monthEnd: month.until,
    description: describeCall(call),
    first: true,
  }
}

/** `at` is when it was refused, epoch ms. */
export function refusalError(refusal: Refusal, at: number): GatewayError {
  return new GatewayError(refusal.code, {
    ...(refusal.message === undefined ? {} : { message: refusal.message }),
    ...(refusal.retryAfterMs === undefined ? {} : { retryAfterMs: refusal.retryAfterMs }),
    ...(refusal.limit === undefined ? {} : toldLimit(refusal.limit, at + (refusal.retryAfterMs ?? 0))),
    ...(refusal.windows === undefined ? {} : { headers: rateLimitHeaders(refusal.windows) }),
  })
}

/** Which limit it is, and when the call would pass it. */
function toldLimit(
  { of, dimension, limit, seconds }: RefusingLimit,
  opensAt: number,
): Pick<GatewayErrorDetails, 'explanation' | 'details'> {
  if (dimension === 'concurrency' || seconds === undefined)
    return {
      explanation: `the ${of} may have ${counted(limit, CALLS)} running at once; try again when one of them has ended`,
      details: { limit: { of, dimension, limit } },
    }
  const opens = new Date(opensAt).toISOString()
  return {
    explanation: `the ${of} may use ${counted(limit, DIMENSION_RULES[dimension].unit)} in ${counted(seconds, SECONDS)}; this window opens again at ${opens}`,
    details: { limit: { of, dimension, limit, seconds, opens_at: opens } },
  }
}

const CALLS = { one: 'call', many: 'calls' } as const
const SECONDS = { one: 'second', many: 'seconds' } as const

function counted(count: number, { one, many }: DimensionRule['unit']): string {
  return `${count} ${count === 1 ? one : many}`
}

/** A call of any kind once its model is known. */
export interface DescribedCall extends LoggedCall, Pick<AdmittedCall, 'model' | 'fallback'> {
  readonly modelId: ModelId
  readonly stream: boolean
  readonly user: string | undefined
  /** Set for a video. */
  readonly secondsDeclared?: number | undefined
}

/** The parts of a log row that are known before the call is sent anywhere; recovery uses them. */
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
    chains: describedChains(call),
    ...call.demand?.estimate.pieces,
  }
}

/** The vendor of each chain, so that a recovered call can name it. */
function describedChains({
  model,
  fallback,
}: Pick<AdmittedCall, 'model' | 'fallback'>): Readonly<Record<string, DescribedChain>> {
  const described: Record<string, DescribedChain> = {}
  for (const { id, vendorCode, protocol } of [...model.chains, ...(fallback?.chains ?? [])])
    described[String(id)] = { vendorCode, upstreamProtocol: protocol }
  return described
}
