/** One call as `GET …/logs` shows it (docs/reference/contract.md#D-accounts-70). */
import type { CallLogRow } from '../../core/ledger/log-row.ts'
import { MICRO_CREDITS_PER_CREDIT } from '../../core/money.ts'
import type { AppliedSurcharge } from '../../core/pricing/surcharges.ts'
import { creditsText } from '../money/amounts.ts'

/** The owner's view, and the vendors' messages, which accounts do not see. */
export function viewOperatorLogRow(row: CallLogRow) {
  return {
    ...viewLogRow(row),
    attempts: row.attempts.map((attempt) => ({ ...viewAttempt(attempt), said: attempt.said ?? null })),
  }
}

/** Why a call with an amount was not charged to anyone; null: it was charged, or has no amount. */
function freeReason({ amount, deducted, byok }: CallLogRow): 'below-one-credit' | 'own-credential' | null {
  if (deducted > 0n) return null
  if (byok) return 'own-credential'
  return amount > 0n && amount < MICRO_CREDITS_PER_CREDIT ? 'below-one-credit' : null
}

/** Amounts are Credits as decimal text; times are ISO 8601; unknown values are null. */
export function viewLogRow(row: CallLogRow) {
  return {
    request_id: row.requestId,
    created_at: new Date(row.createdAt).toISOString(),
    ended_at: new Date(row.endedAt).toISOString(),
    endpoint: row.endpoint,
    client_protocol: row.clientProtocol,
    upstream_protocol: row.upstreamProtocol ?? null,
    model_requested: row.modelRequested ?? null,
    model: row.model ?? null,
    vendor_code: row.vendorCode ?? null,
    chain_id: row.chainId ?? null,
    key_id: row.keyId ?? null,
    stream: row.stream,
    http_status: row.httpStatus,
    code: row.code ?? null,
    message: row.message ?? null,
    user: row.user ?? null,
    app_id: row.appId ?? null,
    custom_id: row.customId ?? null,
    usage: viewUsage(row.usage),
    usage_source: row.usageSource ?? null,
    usage_suspect: viewUsageSuspect(row.usageSuspect),
    seconds_declared: row.secondsDeclared ?? null,
    seconds_produced: row.secondsProduced ?? null,
    images: row.images,
    characters: row.characters,
    audio_seconds: row.audioSeconds,
    amount: creditsText(row.amount),
    deducted: creditsText(row.deducted),
    free_reason: freeReason(row),
    owed: creditsText(row.owed),
    recipe: viewRecipe(row),
    subscription_covered: row.subscriptionCovered,
    byok: row.byok,
    capped: row.capped,
    dropped_fields: row.droppedFields,
    attempts: row.attempts.map(viewAttempt),
    first_byte_ms: row.firstByteMs ?? null,
    duration_ms: row.durationMs,
    client_gone: row.clientGone,
    ending: row.ending,
    recovered: row.recovered,
  }
}

function viewUsage(usage: CallLogRow['usage']) {
  return {
    input: usage.input ?? null,
    cached_input: usage.cachedInput ?? null,
    cache_write: usage.cacheWrite ?? null,
    cache_write_1h: usage.cacheWrite1h ?? null,
    output: usage.output ?? null,
    reasoning: usage.reasoning ?? null,
  }
}

function viewUsageSuspect(suspect: CallLogRow['usageSuspect']) {
  if (suspect === undefined) return null
  return {
    input_reported: suspect.inputReported,
    input_charged: suspect.inputCharged,
    output_reported: suspect.outputReported,
    output_charged: suspect.outputCharged,
  }
}

/** quantity × price (money for `per`), summed, × credits_per_unit × rate_multiplier × user_rate/100 = the amount in Credits. */
function viewSurcharge(surcharge: AppliedSurcharge) {
  return 'multiplier' in surcharge
    ? { name: surcharge.name, multiplier: surcharge.multiplier }
    : { name: surcharge.name, per_call: surcharge.perCall, count: surcharge.count ?? 1 }
}

function viewRecipe({ recipe, amount }: CallLogRow) {
  if (recipe === undefined) return null
  return {
    lines: recipe.lines.map((line) => ({ ...line })),
    ...(recipe.surcharges === undefined ? {} : { surcharges: recipe.surcharges.map(viewSurcharge) }),
    currency: recipe.currency ?? null,
    credits_per_unit: recipe.creditsPerUnit,
    rate_multiplier: recipe.rateMultiplier,
    user_rate: recipe.userRate,
    amount: creditsText(amount),
  }
}

function viewAttempt(attempt: CallLogRow['attempts'][number]) {
  return {
    chain_id: attempt.chainId,
    vendor_code: attempt.vendorCode,
    model: attempt.modelId,
    why: attempt.why,
    skipped: attempt.skipped.map(({ chainId, reason }) => ({ chain_id: chainId, reason })),
    outcome: attempt.outcome,
    status: attempt.status ?? null,
    started_ms: attempt.startedMs,
    first_byte_ms: attempt.firstByteMs ?? null,
    ended_ms: attempt.endedMs,
    cooldown_ms: attempt.cooldownMs ?? null,
  }
}
