/** Reads price changes of a model from entries of the audit log. */
import type { FieldDifference } from '../parts/field-difference.ts'
import { PRICE_FIELDS, pricingBodyOf, type PricingValues } from '../parts/pricing-values.ts'

interface Act {
  readonly action: string
  readonly subject: string
  readonly changes: readonly FieldDifference[]
}

/** Actions that schedule prices; they do not change them yet. */
const PLANS = ['price.schedule', 'price.cancel']
const FIELDS: readonly string[] = [...PRICE_FIELDS, 'currency', 'billing_modes']

/** Empty: the action did not change prices. */
export function priceChangesIn({ action, subject, changes }: Act, model: string): readonly FieldDifference[] {
  const isPlan = changes.some(({ field, to }) => field === 'effective_at' && to !== 'at once')
  if (PLANS.includes(action) || isPlan) return []
  const prefix = subject === model ? '' : `price ${model}: `
  return changes.flatMap(({ field, from, to }) => {
    if (!field.startsWith(prefix)) return []
    const name = field.slice(prefix.length)
    if (name === 'pricing') return between(from, to)
    return FIELDS.includes(name) ? [{ field: name, from, to }] : []
  })
}

/** The differences between two complete price lists. */
function between(from: unknown, to: unknown): readonly FieldDifference[] {
  const before = fieldsOf(from)
  const after = fieldsOf(to)
  return FIELDS.map((field) => ({ field, from: before[field] ?? null, to: after[field] ?? null })).filter(
    (one) => JSON.stringify(one.from) !== JSON.stringify(one.to),
  )
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** The differences that a partial price list makes to another one. */
export function priceChanges(from: PricingValues, to: PricingValues): readonly FieldDifference[] {
  const had: Readonly<Record<string, unknown>> = pricingBodyOf(from)
  return Object.entries(pricingBodyOf(to))
    .map(([field, value]) => ({ field, from: had[field], to: value }))
    .filter((one) => String(one.from) !== String(one.to))
}
