/**
 * Contents of requests, in the gateway file's form. Meaning and combinations of values are checked by the file's own
 * readers; these are the types, for the document.
 */
import { say } from '../../../../core/sentences/say.ts'
import { issue } from '../../requests/request-fields.ts'
import * as z from 'zod'
import {
  BILLING_MODES,
  CHAIN_PROTOCOL_IDS,
  IMAGE_WORDS,
  REASONING_WORDS,
  SAMPLING_WORDS,
  WIRE_IDS,
} from '../../../../core/catalogue.ts'
import { DIMENSIONS } from '../../../../core/limits/policy.ts'

/** A number, or exact decimal text if a number is not exact. */
const decimal = z.union([z.number(), z.string().max(64)]).meta({ description: 'A number or decimal text.' })
const name = z.string().min(1).max(200)
const price = decimal.nullable().optional()
const status = z.enum(['enabled', 'disabled', 'maintenance'])
const onOff = z.enum(['enabled', 'disabled'])
const secret = z.string().min(1).max(16_384).meta({ writeOnly: true })
const secretFields = z.record(z.string().max(100), z.string().max(16_384)).meta({ writeOnly: true })
const modelIds = z.array(z.string().max(200)).max(1_000)

export const policyBody = z.strictObject({
  concurrency: z.number().int().min(1).optional(),
  windows: z
    .array(
      z.strictObject({
        dimension: z.enum(DIMENSIONS),
        limit: decimal,
        seconds: z.number().int().min(1),
      }),
    )
    .max(100)
    .optional(),
})

export const pricingBody = z.strictObject({
  currency: z.string().max(3).optional().meta({
    description:
      'Of all prices in here, ISO 4217; `settings.currencies` has its rate. Absent: `settings.currency`. Required where the stored price is in another.',
  }),
  billing_modes: z.array(z.enum(BILLING_MODES)).optional(),
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
})

export const settingsBody = z.strictObject({
  currency: z.string().max(10).optional().meta({
    description:
      'Of balances, caps, steps and packages, and of prices that name none. Prices that are stored keep theirs.',
  }),
  currencies: z
    .record(z.string().max(10), decimal)
    .optional()
    .meta({ description: 'Credits for one unit of each; those that are left out stay.' }),
  credits_per_yuan: decimal.optional().meta({ description: 'Short for `currencies: {CNY: …}`.' }),
  timezone: z.string().max(100).optional(),
  key_prefix: z.string().max(100).optional(),
  limits: policyBody.optional(),
})

export const presetBody = z.strictObject({
  models: modelIds.min(1).optional().meta({ description: 'Of the preset; absent: all of them.' }),
  key: secret.optional().meta({
    description:
      'The vendor’s key, written and never read back; absent: the one of the gateway’s environment.',
  }),
})

export const vendorFields = {
  name: name.optional(),
  kind: z.string().max(100).optional(),
  base_url: z.string().max(2_000).nullable().optional(),
  timeouts: z
    .strictObject({
      connect_ms: z.number().int().optional(),
      first_byte_ms: z.number().int().optional(),
      idle_ms: z.number().int().optional(),
    })
    .optional(),
  status: status.optional(),
}
export const newVendorBody = z.strictObject({ code: z.string().min(1).max(64), ...vendorFields })
export const vendorBody = z.strictObject(vendorFields)

const credentialFields = {
  secret: secret.optional(),
  fields: secretFields.optional(),
  limits: policyBody.optional(),
  status: onOff.optional(),
}
export const newCredentialBody = z.strictObject({ vendor: name, name: name.max(100), ...credentialFields })
export const credentialBody = z.strictObject(credentialFields)

const modelFields = {
  name: name.optional(),
  status: status.optional(),
  client_visible: z.boolean().optional(),
  support_features: z.array(z.enum(['text', 'image', 'audio', 'video'])).optional(),
  required_verification: z.number().int().optional(),
  required_plan: z.number().int().optional(),
  context_tokens: z.number().int().nullable().optional(),
  max_output_tokens: z.number().int().nullable().optional(),
  subscription_covered: z.boolean().optional(),
  pricing: pricingBody.optional(),
  surcharges: z
    .record(z.string().max(201), z.union([decimal, z.strictObject({ per_call: decimal })]))
    .optional()
    .meta({
      description:
        'What request fields add to the price: a number multiplies the whole call, per_call is yuan for each use.',
    }),
  refuse: z
    .array(z.string().max(201))
    .max(100)
    .optional()
    .meta({ description: 'Fields, or fields with a value (service_tier.priority), that calls may not use.' }),
}
export const newModelBody = z.strictObject({ model_id: z.string().min(1).max(200), ...modelFields })
export const modelBody = z.strictObject(modelFields)

const chainFields = {
  credential: name.optional().meta({ description: 'Name of a credential of the vendor.' }),
  forward_model_id: z.string().min(1).max(500).optional(),
  priority: z.number().int().optional(),
  weight: z.number().int().optional(),
  rate_multiplier: decimal.optional(),
  stream_usage: z.enum(['forward', 'inject']).optional(),
  client_gone_grace_ms: z.number().int().optional().meta({
    description: 'How long an answer is still read after its client disconnected; 0 aborts it at once.',
  }),
  min_bytes_per_second: z.number().int().optional().meta({
    description: 'A slower answer has stalled, measured over the vendor’s idle_ms; 0: never.',
  }),
  capabilities: z
    .strictObject({
      reasoning: z.enum(REASONING_WORDS).optional(),
      sampling: z.enum(SAMPLING_WORDS).optional(),
      tools: z.boolean().optional(),
      images: z.enum(IMAGE_WORDS).optional(),
      max_stop: z.number().int().optional(),
    })
    .optional()
    .meta({
      description:
        'Properties of the model that the kind of vendor does not define; absent ones are taken from it.',
    }),
  status: status.optional(),
  cost: pricingBody.nullable().optional().meta({
    description:
      'What the operator pays upstream, in the form of a model’s pricing; margins are counted with it. null: not known.',
  }),
}
export const newChainBody = z.strictObject({
  model_id: z.string().min(1).max(200),
  vendor: name,
  protocol: z.enum(CHAIN_PROTOCOL_IDS),
  ...chainFields,
})
export const chainBody = z.strictObject(chainFields)

const groupFields = { protocol: z.enum(WIRE_IDS).optional(), models: modelIds.optional() }
export const newGroupBody = z.strictObject({ name: name.max(100), ...groupFields })
export const groupBody = z.strictObject(groupFields)

const planFields = {
  level: z.number().int().optional(),
  price: decimal.optional(),
  currency: z.string().max(3).optional().meta({ description: 'Of the price; absent: `settings.currency`.' }),
  period_days: z.number().int().optional(),
  quota: z
    .array(z.strictObject({ credits: decimal, seconds: z.number().int() }))
    .max(20)
    .optional(),
}
export const newPlanBody = z.strictObject({ code: z.string().min(1).max(64), ...planFields })
export const planBody = z.strictObject(planFields)

const keyBody = z.strictObject({
  name: name.max(100),
  secret: secret.optional(),
  status: onOff.optional(),
  expires_at: z
    .union([z.string().max(40), z.number().int()])
    .nullable()
    .optional(),
  group: name.nullable().optional(),
  models: modelIds.optional(),
  ip_allow: z.array(z.string().max(64)).max(1_000).optional(),
  policy: policyBody.nullable().optional(),
})

const accountFields = {
  email: z.string().min(3).max(320).optional(),
  phone: z.string().min(5).max(20).optional(),
  password: z.string().min(1).max(1_024).meta({ writeOnly: true }).optional(),
  role: z.enum(['admin', 'user']).optional(),
  status: z.enum(['active', 'suspended']).optional(),
  verification: z.enum(['none', 'personal', 'enterprise']).optional(),
  user_rate: decimal.optional(),
  credits: decimal.optional().meta({ description: 'Spendable Credits the account shall have; booked.' }),
  balance: decimal.optional().meta({ description: 'Yuan the account shall have; booked.' }),
  api_deduction: z.boolean().optional(),
  monthly_cap_yuan: decimal.nullable().optional(),
  auto_exchange: z
    .strictObject({
      enabled: z.boolean().optional(),
      below_credits: decimal.optional(),
      step_yuan: decimal.optional(),
    })
    .optional(),
  subscription: z.strictObject({ plan: name, days: z.number().int().optional() }).nullable().optional(),
  fallback_model: z.string().max(200).nullable().optional(),
  limits: policyBody.optional(),
  byok: z
    .array(
      z.strictObject({
        vendor: name,
        secret: secret.optional(),
        fields: secretFields.optional(),
        enabled: z.boolean().optional(),
      }),
    )
    .max(100)
    .optional(),
  keys: z.array(keyBody).max(100).optional(),
}
export const accountBody = z.strictObject(accountFields)

export const grantBody = z
  .strictObject({
    credits: decimal.optional().meta({ description: 'Credits to give; negative takes back.' }),
    balance: decimal.optional().meta({ description: 'Yuan to give; negative takes back.' }),
    reason: z.string().min(1).max(500).optional(),
  })
  .refine(
    (body) => (body.credits === undefined) !== (body.balance === undefined),
    issue(say('either-credits-or-balance')),
  )

export const reasonBody = z.strictObject({ reason: z.string().trim().min(1).max(500).optional() }).optional()
export const statedReasonBody = z.strictObject({ reason: z.string().trim().min(1).max(500) })
