import type { Refusal, ReserveOperation } from '../../core/calls/operations.ts'
import { encodeDescription } from '../../core/calls/recover.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { AdmittedCall, ReservedCall } from '../call.ts'
import type { Pipeline } from '../context.ts'
import { rateLimitHeaders } from '../headers.ts'
import { describeCall } from './log-row.ts'

/**
 * One storage verb judges levels and the right to call on fresh rows and takes windows, slot and hold together, all or
 * nothing (decisions, order of checks). The fallback model is judged and funded in the same breath.
 */
export async function reserve(pipeline: Pipeline, call: AdmittedCall): Promise<ReservedCall> {
  const outcome = await pipeline.storage.calls.reserve(reservation(pipeline, call))
  if (outcome.kind === 'refused') throw refusalError(outcome.refusal)
  return { ...call, stage: 'reserved', reservation: outcome }
}

/** What is asked of the store. */
export function reservation(
  pipeline: Pick<Pipeline, 'monthOf' | 'instanceId'>,
  call: AdmittedCall,
): Omit<ReserveOperation, 'kind'> {
  const month = pipeline.monthOf(call.at, call.catalogue.settings.timezone)
  return {
    callId: call.callId,
    instanceId: pipeline.instanceId,
    at: call.at,
    keyId: call.key.id,
    accountId: call.account.id,
    counts: { requests: 1, images: call.demand.estimate.images, videos: 0, videoSeconds: 0 },
    model: call.demand,
    fallback: call.fallbackDemand,
    defaultPolicy: call.catalogue.settings.limits,
    monthStart: month.from,
    monthEnd: month.until,
    description: encodeDescription(describeCall(call)),
  }
}

export function refusalError(refusal: Refusal): GatewayError {
  return new GatewayError(refusal.code, {
    ...(refusal.message === undefined ? {} : { message: refusal.message }),
    ...(refusal.retryAfterMs === undefined ? {} : { retryAfterMs: refusal.retryAfterMs }),
    ...(refusal.windows === undefined ? {} : { headers: rateLimitHeaders(refusal.windows) }),
  })
}
