/** Answers of the admin routes: the gateway file's forms with values that only the running gateway has. */
import * as z from 'zod'
import { accountShape, quotaShape } from '../../answers/shapes.ts'
import { isoTime } from '../../answers/wire-values.ts'

/** A JSON number if it prints the same digits, else the exact text. */
const exact = z.union([z.number(), z.string()])
const price = exact.nullable()

export const policyShape = z.strictObject({
  concurrency: z.number().int().optional(),
  windows: z
    .array(z.strictObject({ dimension: z.string(), limit: z.number(), seconds: z.number() }))
    .optional(),
})

export const pricingShape = z.strictObject({
  currency: z.string(),
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
})

export const settingsShape = z.strictObject({
  currency: z.string(),
  currencies: z.record(z.string(), exact),
  timezone: z.string(),
  key_prefix: z.string(),
  limits: policyShape,
})

export const vendorShape = z.strictObject({
  code: z.string(),
  name: z.string(),
  kind: z.string(),
  base_url: z.string().nullable(),
  timeouts: z.strictObject({ connect_ms: z.number(), first_byte_ms: z.number(), idle_ms: z.number() }),
  status: z.string(),
  credentials: z.array(z.string()),
  chains: z.number().int(),
})

export const vendorKindShape = z.strictObject({
  kind: z.string(),
  name: z.string(),
  protocols: z.array(z.string()),
  base_url: z.string().nullable().meta({
    description: 'Where it listens; {…} is a field of the credential. null: the vendor must state it.',
  }),
  secret: z.strictObject({
    need: z.enum(['needed', 'optional', 'none']),
    form: z.enum(['key', 'service-account']),
  }),
  fields: z
    .array(z.strictObject({ name: z.string(), secret: z.boolean(), optional: z.boolean() }))
    .meta({ description: 'What a credential holds beside its secret, or in its place.' }),
})

const listPrice = z.string().nullable()

export const presetShape = z.strictObject({
  code: z.string(),
  name: z.string(),
  kind: z.string(),
  variable: z
    .string()
    .nullable()
    .meta({ description: 'The environment variable that holds the vendor’s key; null: it needs none.' }),
  has_key: z
    .boolean()
    .meta({ description: 'The environment of the instance that answers holds the key, or none is needed.' }),
  in_catalogue: z.boolean(),
  models: z.array(
    z.strictObject({
      model_id: z.string(),
      name: z.string(),
      support_features: z.array(z.string()),
      context_tokens: z.number().int().nullable(),
      max_output_tokens: z.number().int().nullable(),
      forward_model_id: z.string(),
      protocols: z.array(z.string()),
      price: z
        .strictObject({
          currency: z.string(),
          input: listPrice,
          output: listPrice,
          cached_input: listPrice,
          cache_write: listPrice,
          cache_write_1h: listPrice,
          video_second: listPrice,
          request: listPrice,
          image: listPrice,
          million_characters: listPrice,
          audio_second: listPrice,
          source: z.string(),
          date: z.string(),
          confidence: z.string(),
          note: z.string().nullable(),
        })
        .meta({
          description: 'As the vendor publishes it: per million tokens, or for each second of video.',
        }),
      in_catalogue: z.boolean().meta({ description: 'A chain over this vendor leads to it.' }),
    }),
  ),
})

export const presetAddedShape = z.strictObject({
  vendor: z.boolean(),
  credential: z.boolean(),
  models: z.array(z.string()).meta({ description: 'Those that the catalogue did not have.' }),
  chains: z.number().int(),
})

export const credentialShape = z.strictObject({
  id: z.string(),
  vendor: z.string(),
  name: z.string(),
  secret_set: z.boolean(),
  fields_set: z.array(z.string()),
  limits: policyShape,
  status: z.string(),
})

export const modelShape = z.strictObject({
  model_id: z.string(),
  name: z.string(),
  created_at: isoTime.meta({ description: 'When it came into the catalogue; no change changes it.' }),
  status: z.string(),
  client_visible: z.boolean(),
  support_features: z.array(z.string()),
  required_verification: z.number(),
  required_plan: z.number(),
  context_tokens: z.number().nullable(),
  max_output_tokens: z.number().nullable(),
  subscription_covered: z.boolean(),
  pricing: pricingShape,
  surcharges: z.record(z.string(), z.union([exact, z.strictObject({ per_call: exact })])),
  refuse: z.array(z.string()),
  chains: z.array(z.number().int()),
})

export const chainShape = z.strictObject({
  id: z.number().int(),
  model_id: z.string(),
  vendor: z.string(),
  credential: z.string(),
  protocol: z.string(),
  forward_model_id: z.string(),
  priority: z.number(),
  weight: z.number(),
  rate_multiplier: exact,
  stream_usage: z.string(),
  client_gone_grace_ms: z.number().int(),
  min_bytes_per_second: z.number().int(),
  capabilities: z.strictObject({
    reasoning: z.string().optional(),
    sampling: z.string().optional(),
    tools: z.boolean().optional(),
    images: z.string().optional(),
    max_stop: z.number().int().optional(),
  }),
  status: z.string(),
  usable: z.boolean().meta({ description: 'Chain, vendor, credential and model are switched on.' }),
  cost: pricingShape.nullable(),
  health: z.strictObject({
    state: z
      .enum(['healthy', 'failing', 'cooling-down', 'probing', 'rate-limited'])
      .describe(
        '`cooling-down`: it failed and is tried last until its pause is over. `probing`: its pause is over, and one call tests it. ' +
          '`rate-limited`: the upstream asked for fewer calls.',
      ),
    cause: z.string().nullable(),
    since: isoTime.nullable(),
    cooling_until: isoTime.nullable(),
    failures_in_row: z.number().int(),
    outcomes: z.string().describe('The last twenty answers, oldest first: `+` ended cleanly, `-` did not.'),
    running: z.number().int().describe('Running calls over it, of the instance that answers.'),
    concurrency_limit: z
      .number()
      .int()
      .nullable()
      .describe('How many concurrent calls the upstream has accepted; null: no limit was observed.'),
    last_error: z
      .strictObject({
        at: isoTime,
        kind: z.string(),
        status: z.number().int().nullable(),
        code: z.string().nullable().describe('The upstream’s own.'),
        message: z.string().describe('The upstream’s message, at most 300 characters.'),
      })
      .nullable(),
  }),
  recent: z.strictObject({
    attempts: z.number().int(),
    failed: z.number().int(),
    first_byte_ms_median: z.number().nullable(),
    first_byte_ms_p95: z.number().nullable(),
  }),
})

export const groupShape = z.strictObject({
  name: z.string(),
  protocol: z.string(),
  models: z.array(z.string()),
})

export const planShape = z.strictObject({
  code: z.string(),
  level: z.number().int(),
  price: exact,
  currency: z.string(),
  period_days: z.number().int(),
  quota: z.array(z.strictObject({ credits: exact, seconds: z.number() })),
})

export const keyShape = z.strictObject({
  id: z.string(),
  name: z.string(),
  hint: z.string(),
  member: z.string().nullable().meta({ description: 'Of the organisation; null: the account’s own key.' }),
  status: z.string(),
  created_at: isoTime,
  expires_at: isoTime.nullable(),
  group: z.string().nullable(),
  models: z.array(z.string()),
  ip_allow: z.array(z.string()),
  policy: policyShape.nullable(),
  former_valid_until: isoTime
    .nullable()
    .meta({ description: 'Until when a secret from before a rotation still works; null: none does.' }),
})

export const accountRowShape = accountShape.extend({
  name: z.string().nullable().meta({ description: 'The name of the person or the organisation.' }),
  created_at: isoTime,
})

export const accountDetailShape = accountRowShape.extend({
  auto_exchange: z.strictObject({ enabled: z.boolean(), below_credits: exact, step_yuan: exact }),
  limits: policyShape,
  quota: z.array(quotaShape).meta({ description: 'Of the plan, and what is left of it.' }),
  byok: z.array(z.strictObject({ vendor: z.string(), enabled: z.boolean() })),
  keys: z.array(keyShape),
})

export const newKeysShape = z
  .array(z.strictObject({ name: z.string(), key: z.string() }))
  .meta({ description: 'Keys made now without a fixed secret: shown this once.' })

export const probeShape = z.strictObject({
  ok: z.boolean(),
  chain_id: z.number().int(),
  status: z.number().int().nullable(),
  outcome: z.string(),
  message: z.string().nullable(),
  duration_ms: z.number().nullable(),
})
