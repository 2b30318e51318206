import type { Refusal, RefusingLimit, ReserveOperation } from '../../core/calls/operations.ts'
import { encodeDescription } from '../../core/calls/recover.ts'
import { GatewayError, type GatewayErrorDetails } from '../../core/errors/gateway-error.ts'
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
  if (outcome.kind === 'refused') throw refusalError(outcome.refusal, call.at)
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
