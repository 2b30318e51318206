/**
 * Stored rows in the gateway file's form, without secrets. The export prints these, and applying compares them: rows
 * with the same form are equal, so exporting and applying again changes nothing.
 */
import type {
  Chain,
  ChainCapabilities,
  Credential,
  DecimalText,
  Group,
  ModelFields,
  Plan,
  Pricing,
  Settings,
  Surcharge,
  Vendor,
} from '../../core/catalogue.ts'
import type { JsonObject, JsonValue } from '../../core/json.ts'
import type { Policy } from '../../core/limits/policy.ts'
import { ratesOf } from '../../core/pricing/currency.ts'
import { parseDecimal, printDecimal } from '../../core/pricing/decimal.ts'
import { verificationName } from '../accounts/accounts.ts'
import { creditsText, exactYuanText } from '../money/amounts.ts'
import type { Account } from '../../storage/stores/accounts.ts'
import type { Key } from '../../storage/stores/keys.ts'

export function settingsForm(settings: Settings): JsonObject {
  return {
    currency: settings.currency,
    currencies: currenciesForm(settings),
    timezone: settings.timezone,
    key_prefix: settings.keyPrefix,
    limits: policyForm(settings.limits),
  }
}

function currenciesForm(settings: Settings): JsonObject {
  const rates = Object.entries(ratesOf(settings)).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(rates.map(([currency, rate]) => [currency, numberForm(rate)]))
}

export function vendorForm(vendor: Vendor): JsonObject {
  return {
    code: vendor.code,
    name: vendor.name,
    kind: vendor.kind,
    base_url: vendor.baseUrl ?? null,
    timeouts: {
      connect_ms: vendor.timeouts.connectMs,
      first_byte_ms: vendor.timeouts.firstByteMs,
      idle_ms: vendor.timeouts.idleMs,
    },
    status: vendor.status,
  }
}

export function credentialForm(credential: Pick<Credential, 'name' | 'limits' | 'status'>): JsonObject {
  return { name: credential.name, limits: policyForm(credential.limits), status: credential.status }
}

export function modelForm(model: ModelFields): JsonObject {
  return {
    model_id: model.modelId,
    name: model.name,
    status: model.status,
    client_visible: model.clientVisible,
    support_features: model.supportFeatures,
    required_verification: model.requiredVerification,
    required_plan: model.requiredPlan,
    context_tokens: model.contextTokens ?? null,
    max_output_tokens: model.maxOutputTokens ?? null,
    subscription_covered: model.subscriptionCovered,
    pricing: pricingForm(model.pricing),
    surcharges: Object.fromEntries(
      Object.entries(model.surcharges).map(([name, surcharge]) => [name, surchargeForm(surcharge)]),
    ),
    refuse: model.refuse,
  }
}

function surchargeForm(surcharge: Surcharge): JsonValue {
  return surcharge.kind === 'multiplier'
    ? numberForm(surcharge.multiplier)
    : { per_call: numberForm(surcharge.perCall) }
}

function pricingForm(pricing: Pricing): JsonObject {
  return {
    currency: pricing.currency,
    billing_modes: pricing.billingModes,
    input_price: priceForm(pricing.inputPrice),
    output_price: priceForm(pricing.outputPrice),
    cache_input_price: priceForm(pricing.cacheInputPrice),
    cache_output_price: priceForm(pricing.cacheOutputPrice),
    cache_write_price: priceForm(pricing.cacheWritePrice),
    cache_write_1h_price: priceForm(pricing.cacheWrite1hPrice),
    request_price: priceForm(pricing.requestPrice),
    image_price: priceForm(pricing.imagePrice),
    video_price: priceForm(pricing.videoPrice),
    character_price: priceForm(pricing.characterPrice),
    audio_second_price: priceForm(pricing.audioSecondPrice),
  }
}

export function chainForm(chain: Omit<Chain, 'id' | 'credentialId'>, credentialName: string): JsonObject {
  return {
    vendor: chain.vendorCode,
    credential: credentialName,
    protocol: chain.protocol,
    forward_model_id: chain.forwardModelId,
    priority: chain.priority,
    weight: chain.weight,
    rate_multiplier: numberForm(chain.rateMultiplier),
    stream_usage: chain.streamUsage,
    client_gone_grace_ms: chain.clientGoneGraceMs,
    min_bytes_per_second: chain.minBytesPerSecond,
    capabilities: capabilitiesForm(chain.capabilities),
    status: chain.status,
  }
}

function capabilitiesForm({ stopMax, ...others }: ChainCapabilities): JsonObject {
  return { ...others, ...(stopMax === undefined ? {} : { max_stop: stopMax }) }
}

export function groupForm(group: Group): JsonObject {
  return { name: group.name, protocol: group.protocol, models: group.models }
}

export function planForm(plan: Plan): JsonObject {
  return {
    code: plan.code,
    level: plan.level,
    price: numberForm(plan.price),
    currency: plan.currency,
    period_days: plan.periodDays,
    quota: plan.quota.map((tier) => ({ credits: numberForm(tier.credits), seconds: tier.seconds })),
  }
}

/** An account without its ledger, keys and subscription, which have their own rules. */
export function accountForm(
  account: Omit<Account, 'id' | 'credits' | 'held' | 'balance' | 'createdAt' | 'byokVendors'>,
  creditsPerUnit: DecimalText,
): JsonObject {
  return {
    email: account.email ?? null,
    phone: account.phone ?? null,
    role: account.role,
    status: account.status,
    verification: verificationName(account.verification),
    user_rate: numberForm(account.userRate),
    api_deduction: account.apiDeduction,
    monthly_cap_yuan: numberForm(exactYuanText(account.monthlyCap, creditsPerUnit)),
    auto_exchange: {
      enabled: account.autoExchange.enabled,
      below_credits: numberForm(creditsText(account.autoExchange.belowCredits)),
      step_yuan: numberForm(exactYuanText(account.autoExchange.step, creditsPerUnit)),
    },
    fallback_model: account.fallbackModel ?? null,
    limits: policyForm(account.policy),
  }
}

export function keyForm(
  key: Pick<Key, 'name' | 'status' | 'expiresAt' | 'group' | 'models' | 'ipAllow' | 'policy'>,
): JsonObject {
  return {
    name: key.name,
    status: key.status,
    expires_at: key.expiresAt === undefined ? null : new Date(key.expiresAt).toISOString(),
    group: key.group ?? null,
    models: key.models,
    ip_allow: key.ipAllow,
    policy: key.policy === undefined ? null : policyForm(key.policy),
  }
}

export function policyForm(policy: Policy): JsonObject {
  return {
    ...(policy.concurrency === undefined ? {} : { concurrency: policy.concurrency }),
    ...(policy.windows.length === 0
      ? {}
      : {
          windows: policy.windows.map(({ dimension, limit, seconds }) => ({ dimension, limit, seconds })),
        }),
  }
}

function priceForm(price: DecimalText | null): JsonValue {
  return price === null ? null : numberForm(price)
}

/** A number if JavaScript prints the same digits, else the exact text. */
export function numberForm(decimal: DecimalText): JsonValue {
  const parsed = parseDecimal(decimal)
  const text = parsed.kind === 'decimal' ? printDecimal(parsed.value) : decimal
  return String(Number(text)) === text ? Number(text) : text
}
