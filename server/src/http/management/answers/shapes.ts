/** Schemas of the views of `management/`, for the OpenAPI document and for checking answers. */
import * as z from 'zod'
import { currencyCode, decimalText, isoTime } from './wire-values.ts'

export const accountShape = z.strictObject({
  id: z.string(),
  kind: z
    .enum(['person', 'organisation'])
    .meta({ description: 'An organisation has no sign-in: its members act for it.' }),
  email: z.string().nullable(),
  phone: z.string().nullable(),
  role: z.string(),
  status: z.string(),
  credits: decimalText,
  held_credits: decimalText,
  owed: decimalText.meta({
    description:
      'Credits: what calls cost beyond the monthly cap. Charged first as soon as the cap has room.',
  }),
  currency: currencyCode,
  balance: decimalText,
  api_deduction: z.boolean(),
  verification: z.enum(['none', 'personal', 'enterprise']),
  plan: z.string().nullable(),
  plan_expires_at: isoTime.nullable(),
  user_rate: decimalText,
  fallback_model: z.string().nullable(),
  monthly_cap_yuan: decimalText,
  month_spent_yuan: decimalText,
})

/** A window of a plan's quota. */
export const quotaShape = z.strictObject({
  credits: decimalText,
  seconds: z.number().int(),
  used: decimalText,
  held: decimalText,
  remaining: decimalText,
  resets_at: isoTime.nullable().meta({ description: 'null: no window runs; the next use begins one.' }),
})

const count = z.number().int().min(0)
const milliseconds = z.number()

/** One attempt over a chain, as the log shows it. */
export const attemptShape = z.strictObject({
  chain_id: z.number().int(),
  vendor_code: z.string(),
  model: z.string(),
  why: z.string(),
  skipped: z.array(z.strictObject({ chain_id: z.number().int(), reason: z.string() })),
  outcome: z.string(),
  status: z.number().int().nullable(),
  started_ms: milliseconds,
  first_byte_ms: milliseconds.nullable(),
  ended_ms: milliseconds,
  cooldown_ms: milliseconds.nullable(),
})

export const logRowShape = z.strictObject({
  request_id: z.string(),
  created_at: isoTime,
  ended_at: isoTime,
  endpoint: z.string(),
  client_protocol: z.string(),
  upstream_protocol: z.string().nullable(),
  model_requested: z.string().nullable(),
  model: z.string().nullable(),
  vendor_code: z.string().nullable(),
  chain_id: z.number().int().nullable(),
  key_id: z.string().nullable(),
  stream: z.boolean(),
  http_status: z.number().int(),
  code: z.number().int().nullable(),
  message: z.string().nullable().meta({
    description:
      'The message sent to the client with `code`, 256 characters at most. null: none, or not stored.',
  }),
  user: z.string().nullable(),
  app_id: z.string().nullable(),
  custom_id: z.string().nullable(),
  usage: z.strictObject({
    input: count.nullable(),
    cached_input: count.nullable(),
    cache_write: count.nullable(),
    cache_write_1h: count.nullable(),
    output: count.nullable(),
    reasoning: count.nullable(),
  }),
  usage_source: z.enum(['upstream', 'estimated', 'declared']).nullable(),
  usage_suspect: z
    .strictObject({
      input_reported: count,
      input_charged: count,
      output_reported: count,
      output_charged: count,
    })
    .nullable()
    .meta({
      description: 'The upstream reported more than is possible; the most that is possible was charged.',
    }),
  seconds_declared: z.number().nullable(),
  seconds_produced: z.number().nullable(),
  images: count,
  characters: count.meta({ description: 'Unicode code points that were spoken.' }),
  audio_seconds: z.number().min(0).meta({ description: 'Seconds of sound that were transcribed.' }),
  amount: decimalText,
  deducted: decimalText,
  free_reason: z.enum(['below-one-credit', 'own-credential']).nullable().meta({
    description:
      'Why nothing was taken: an amount below one Credit is free, and with an own credential the vendor is paid directly.',
  }),
  owed: decimalText.meta({
    description: 'Part of `deducted` that was over the monthly cap, and is charged when the cap allows.',
  }),
  recipe: z
    .strictObject({
      lines: z.array(
        z.strictObject({ class: z.string(), quantity: z.number(), price: decimalText, per: z.number() }),
      ),
      surcharges: z
        .array(
          z.strictObject({
            name: z.string(),
            multiplier: decimalText.optional(),
            per_call: decimalText.optional(),
            count: count.optional().meta({ description: 'Uses that are charged, with `per_call`.' }),
          }),
        )
        .optional(),
      currency: z.string().nullable().meta({
        description: 'Of the prices. null: counted in Credits, or by a build that did not record it.',
      }),
      credits_per_unit: decimalText.meta({ description: 'Credits for one unit of it, when the call began.' }),
      rate_multiplier: decimalText,
      user_rate: decimalText,
      amount: decimalText,
    })
    .nullable(),
  subscription_covered: z.boolean(),
  byok: z.boolean(),
  capped: z.boolean(),
  dropped_fields: z.array(z.string()),
  attempts: z.array(attemptShape),
  first_byte_ms: milliseconds.nullable(),
  duration_ms: milliseconds,
  client_gone: z.boolean(),
  ending: z.string(),
  recovered: z.boolean().meta({ description: 'Another instance had to end the call first.' }),
})

/** A row of the catalogue (docs/reference/contract.md#2.1). */
export const catalogueEntryShape = z.strictObject({
  id: z.number().int(),
  model_id: z.string(),
  name: z.string(),
  status: z.string(),
  client_visible: z.boolean(),
  rate_multiplier: z.number(),
  vendor_code: z.string(),
  vendor_name: z.string(),
  forward_model_id: z.string(),
  endpoints: z.array(z.string()).meta({ description: 'The paths at which the model is called.' }),
})

const price = z.number()

/** What a model requires of an account, and its availability. */
export const admissionShape = z.strictObject({
  model_id: z.string(),
  context_tokens: count.nullable(),
  max_output_tokens: count.nullable(),
  subscription_covered: z.boolean(),
  needs: z.strictObject({
    verification: z.enum(['none', 'personal', 'enterprise']),
    plan_level: count.meta({ description: '0: no plan.' }),
  }),
  missing: z.array(z.enum(['verification', 'plan'])).meta({ description: 'What the account lacks.' }),
  health: z.enum(['up', 'unsteady', 'down']).meta({
    description: 'Whether its chains answer: all of them, some, or none.',
  }),
})

/** What a key bound to it may call, and in which protocol. */
export const groupShape = z.strictObject({
  name: z.string(),
  protocol: z.string(),
  models: z.array(z.string()),
})

/** A pricing entry (docs/reference/contract.md#2.2). */
export const pricingEntryShape = z.strictObject({
  model_id: z.string(),
  name: z.string(),
  vendor_code: z.string(),
  vendor_name: z.string(),
  currency: z.string(),
  support_features: z.array(z.string()),
  endpoints: z.array(z.string()).meta({ description: 'The paths at which the model is called.' }),
  billing_modes: z.array(z.string()),
  input_price: price,
  output_price: price,
  cache_input_price: price,
  cache_output_price: price,
  cache_write_price: price,
  cache_write_1h_price: price,
  request_price: price,
  image_price: price,
  video_price: price,
  character_price: price,
  audio_second_price: price,
  rate_multiplier: z.number(),
  user_rate: z.number(),
})

const chatModel = z.strictObject({
  id: z.string(),
  object: z.literal('model'),
  created: z.number().int(),
  owned_by: z.string(),
})

const messagesModel = z.strictObject({
  type: z.literal('model'),
  id: z.string(),
  display_name: z.string(),
  created_at: z.string(),
  max_input_tokens: z.number().int().nullable(),
  max_tokens: z.number().int().nullable(),
  capabilities: z.null(),
  deprecated_at: z.null(),
  lifecycle: z.literal('active'),
  line: z.null(),
})

export const modelListingShape = z.union([
  z.strictObject({ object: z.literal('list'), data: z.array(chatModel) }),
  z.strictObject({
    data: z.array(messagesModel),
    has_more: z.boolean(),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  }),
])

export const modelItemShape = z.union([chatModel, messagesModel])

/** Totals of the calls that match a filter. */
export const logTotalsShape = z.strictObject({
  calls: count,
  failed: count,
  tokens: count.meta({ description: 'Input of every class and output.' }),
  deducted: decimalText,
  complete: z.boolean().meta({ description: 'false: the sum leaves out some of the calls.' }),
})
