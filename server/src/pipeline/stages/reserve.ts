import type { Refusal, RefusingLimit, ReserveOperation } from '../../core/ledger/operations.ts'
import { encodeDescription } from '../../core/calls/recover.ts'
import type { Catalogue } from '../../core/catalogue.ts'
import { GatewayError, type GatewayErrorDetails } from '../../core/errors/gateway-error.ts'
import type { AdmittedCall, ReservedCall } from '../call.ts'
import type { Account } from '../../storage/stores/accounts.ts'
import type { Key } from '../../storage/stores/keys.ts'
import type { Pipeline } from '../context.ts'
import { rateLimitHeaders } from '../headers.ts'
import { type EndpointKind, countsOf } from '../kinds/kind.ts'
import { type DescribedCall, describeCall } from './log-row.ts'
import { readTerms } from '../../core/pricing/read-terms.ts'
import type { PriceTerms } from '../../core/pricing/terms.ts'

/** A call of any kind whose demand is known. */
export interface Reservable
  extends DescribedCall,
    Pick<AdmittedCall, 'callId' | 'demand' | 'fallbackDemand'> {
  readonly key: Key
  readonly account: Account
  readonly catalogue: Catalogue
}

/**
 * One storage verb judges levels and the right to call on fresh rows and takes windows, slot and hold together, all or
 * nothing (docs/reference/contract.md#D-admission-11). The fallback model is judged and funded in the same breath.
 */
export async function reserve<Call extends Reservable>(
  pipeline: Pick<Pipeline, 'monthOf' | 'instanceId' | 'storage'>,
  call: Call,
  kind: EndpointKind,
): Promise<Omit<Call, 'stage'> & Reserved> {
  const outcome = await pipeline.storage.calls.reserve(reservation(pipeline, call, kind))
  if (outcome.kind === 'refused') throw refusalError(outcome.refusal, call.at)
  return { ...call, stage: 'reserved', reservation: outcome }
}

interface Reserved {
  readonly stage: 'reserved'
  readonly reservation: ReservedCall['reservation']
}

/** What is asked of the store. */
export function reservation(
  pipeline: Pick<Pipeline, 'monthOf' | 'instanceId'>,
  call: Reservable,
  kind: EndpointKind,
): Omit<ReserveOperation, 'kind'> {
  const month = pipeline.monthOf(call.at, call.catalogue.settings.timezone)
  return {
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
    description: encodeDescription(describeCall(call)),
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
  if (seconds === undefined)
    return {
      explanation: `the ${of} may have ${limit} calls running at once; try again when one of them has ended`,
      details: { limit: { of, dimension, limit } },
    }
  const opens = new Date(opensAt).toISOString()
  return {
    explanation: `the ${of} may use ${limit} ${WORDS[dimension] ?? dimension} in ${seconds} seconds; this window opens again at ${opens}`,
    details: { limit: { of, dimension, limit, seconds, opens_at: opens } },
  }
}

const WORDS: Readonly<Record<string, string | undefined>> = {
  amount: 'Credits',
  video_seconds: 'seconds of video',
}

/** Prices frozen when a call was reserved. A fault of the reader is told and the text read anew; throws when it is unreadable. */
export function frozenTerms(
  { terms }: Pick<Pipeline, 'terms'>,
  text: string,
  onFault: (error: unknown) => void,
): PriceTerms {
  try {
    return readable(terms.terms(text))
  } catch (error) {
    onFault(error)
    return readable(readTerms(text))
  }
}

function readable(read: ReturnType<typeof readTerms>): PriceTerms {
  if (read.kind === 'unreadable') throw new Error(`frozen price terms cannot be read: ${read.reason}`)
  return read.terms
}

/**
 * First instant of the month a charge counts in, epoch ms. Where none can be told it counts in the month the account
 * stands in, which 0 says.
 */
export function monthStartAt(
  { monthOf }: Pick<Pipeline, 'monthOf'>,
  { at, timezone }: { readonly at: number; readonly timezone: string },
  onFault: (error: unknown) => void,
): number {
  try {
    return monthOf(at, timezone).from
  } catch (error) {
    onFault(error)
    return 0
  }
}
