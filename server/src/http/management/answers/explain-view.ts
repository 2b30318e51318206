/** An explanation as shown to clients and on the command line. */
import * as z from 'zod'
import type {
  ExplainedChain,
  ExplainedConversion,
  ExplainedSkip,
  Explanation,
} from '../../../pipeline/explain/explain.ts'
import { creditsText } from '../../../management/money/amounts.ts'
import { microCredits } from '../../../core/money.ts'
import { decimalText, isoTime } from './wire-values.ts'

const conversionShape = z.strictObject({
  kind: z.enum(['passthrough', 'converted', 'refused']).meta({
    description: 'Whether bytes pass untouched, are converted, or cannot be said in this protocol.',
  }),
  dropped: z.array(z.string()).meta({ description: 'JSON paths of the body without a counterpart.' }),
  cut_at: z
    .array(z.string())
    .meta({ description: 'Stop sequences the gateway itself would cut the answer at.' }),
  fetched: z.array(z.string()).meta({ description: 'Addresses of media that would be fetched first.' }),
  message: z.string().nullable(),
})

const chainShape = z.strictObject({
  chain_id: z.number().int(),
  vendor_code: z.string(),
  protocol: z.string(),
  forward_model_id: z.string(),
  priority: z.number().int(),
  weight: z.number(),
  rate_multiplier: decimalText,
  byok: z.boolean(),
  why: z.string(),
  conversion: conversionShape,
})

export const explanationShape = z.strictObject({
  refusal: z
    .strictObject({
      status: z.number().int(),
      code: z.number().int(),
      message: z.string(),
      retry_after_ms: z.number().nullable(),
    })
    .nullable()
    .meta({
      description: 'Why the call would be refused before an upstream is called; null: it would not be.',
    }),
  model: z.string().nullable(),
  estimate: z
    .strictObject({
      input_tokens: z.number(),
      output_tokens: z.number(),
      images: z.number(),
      characters: z.number().meta({ description: 'Characters to synthesise.' }),
      audio_seconds: z.number().meta({ description: 'Seconds to transcribe, rounded up to hundredths.' }),
    })
    .nullable(),
  hold: z
    .strictObject({
      credits: decimalText,
      user_rate: decimalText,
      paid_by: z.enum(['subscription', 'credits', 'none']),
      own_credentials: z.array(z.string()),
      windows: z.array(
        z.strictObject({
          dimension: z.string(),
          seconds: z.number(),
          limit: z.number(),
          remaining: z.number(),
          resets_in_ms: z.number(),
        }),
      ),
    })
    .nullable()
    .meta({ description: 'What would be held before the call, and the tightest windows after it.' }),
  rules: z.array(z.strictObject({ rule: z.string(), required: z.string(), found: z.string() })),
  routes: z.array(
    z.strictObject({
      model: z.string(),
      role: z.enum(['requested', 'fallback']),
      chains: z.array(chainShape),
      skipped: z.array(
        z.strictObject({
          chain_id: z.number().int(),
          vendor_code: z.string(),
          reason: z.string(),
          until: isoTime.nullable().meta({ description: 'When that passes by itself.' }),
          last_error: z.string().nullable().meta({
            description: 'The chain’s last failure; administrators see the vendor’s message.',
          }),
        }),
      ),
    }),
  ),
})

export type ExplanationView = z.output<typeof explanationShape>

export function viewExplanation(
  { refusal, model, estimate, hold, rules, routes }: Explanation,
  reader: Reader,
): ExplanationView {
  return {
    refusal:
      refusal === undefined
        ? null
        : {
            status: refusal.status,
            code: refusal.code,
            message: refusal.message,
            retry_after_ms: refusal.retryAfterMs ?? null,
          },
    model: model ?? null,
    estimate:
      estimate === undefined
        ? null
        : {
            input_tokens: estimate.inputTokens,
            output_tokens: estimate.outputTokens,
            images: estimate.images,
            characters: estimate.pieces?.characters ?? 0,
            audio_seconds: estimate.pieces?.audioSeconds ?? 0,
          },
    hold: viewHold(hold),
    rules: rules.map((rule) => ({ ...rule })),
    routes: routes.map((route) => ({
      model: route.model,
      role: route.role,
      chains: route.chains.map(viewChain),
      skipped: route.skipped.map((skip) => viewSkip(skip, reader)),
    })),
  }
}

/** An upstream's messages may quote other customers. */
type Reader = 'operator' | 'customer'

function viewSkip(
  { chain, reason, until, lastError }: ExplainedSkip,
  reader: Reader,
): ExplanationView['routes'][number]['skipped'][number] {
  const words = lastError === undefined || reader === 'customer' ? '' : `: ${lastError.message}`
  return {
    chain_id: chain.id,
    vendor_code: chain.vendorCode,
    reason,
    until: until === undefined ? null : new Date(until).toISOString(),
    last_error: until === undefined || lastError === undefined ? null : `${lastError.kind}${words}`,
  }
}

function viewHold(hold: Explanation['hold']): ExplanationView['hold'] {
  if (hold === undefined) return null
  return {
    credits: creditsText(microCredits(hold.held)),
    user_rate: hold.userRate,
    paid_by: hold.paidBy,
    own_credentials: [...hold.ownCredentials],
    windows: hold.windows.map(({ dimension, seconds, limit, remaining, resetMs }) => ({
      dimension,
      seconds,
      limit,
      remaining,
      resets_in_ms: resetMs,
    })),
  }
}

function viewChain({
  chain,
  byok,
  why,
  conversion,
}: ExplainedChain): ExplanationView['routes'][number]['chains'][number] {
  return {
    chain_id: chain.id,
    vendor_code: chain.vendorCode,
    protocol: chain.protocol,
    forward_model_id: chain.forwardModelId,
    priority: chain.priority,
    weight: chain.weight,
    rate_multiplier: chain.rateMultiplier,
    byok,
    why,
    conversion: viewConversion(conversion),
  }
}

function viewConversion(conversion: ExplainedConversion): z.output<typeof conversionShape> {
  const nothing = { kind: conversion.kind, dropped: [], cut_at: [], fetched: [], message: null }
  switch (conversion.kind) {
    case 'passthrough':
      return nothing
    case 'refused':
      return { ...nothing, message: conversion.message }
    case 'converted':
      return {
        ...nothing,
        dropped: [...conversion.dropped],
        cut_at: [...conversion.cutAt],
        fetched: [...conversion.fetched],
      }
  }
}
