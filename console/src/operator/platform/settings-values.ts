/** The platform's settings as form values, and their differences from the stored ones. */
import type { PlatformSettings, SettingsChange } from '../../api/operator/settings.ts'
import { policyBodyOf, policyValuesOf, type PolicyValues } from '../../parts/limits/policy-values.ts'
import type { FieldDifference } from '../parts/field-difference.ts'

export type SettingsValues = {
  readonly currency: string
  readonly rates: { readonly currency: string; readonly credits: number | string }[]
  readonly timezone: string
  readonly key_prefix: string
  readonly limits: PolicyValues
}

export function settingsValuesOf(settings: PlatformSettings): SettingsValues {
  return {
    currency: settings.currency,
    rates: Object.entries(settings.currencies).map(([currency, credits]) => ({ currency, credits })),
    timezone: settings.timezone,
    key_prefix: settings.key_prefix,
    limits: policyValuesOf(settings.limits),
  }
}

type Body = Required<Omit<SettingsChange, 'credits_per_yuan'>>

function bodyOf({ rates, limits, ...values }: SettingsValues): Body {
  const currencies = Object.fromEntries(
    rates.map(({ currency, credits }) => [currency.trim().toUpperCase(), String(credits)]),
  )
  return { ...values, currencies, limits: policyBodyOf(limits) }
}

/** Only differences are sent, so that concurrent changes of other settings are kept. */
export function settingsChangeOf(values: SettingsValues, before: SettingsValues): SettingsChange {
  const next = bodyOf(values)
  const had = bodyOf(before)
  const currencies = Object.fromEntries(
    Object.entries(next.currencies).filter(([currency, credits]) => had.currencies[currency] !== credits),
  )
  return {
    ...(next.currency === had.currency ? {} : { currency: next.currency }),
    ...(Object.keys(currencies).length === 0 ? {} : { currencies }),
    ...(next.timezone === had.timezone ? {} : { timezone: next.timezone }),
    ...(next.key_prefix === had.key_prefix ? {} : { key_prefix: next.key_prefix }),
    ...(JSON.stringify(next.limits) === JSON.stringify(had.limits) ? {} : { limits: next.limits }),
  }
}

/** The name of a setting; each rate is a field of its own. */
export function settingsDifferences(
  values: SettingsValues,
  before: SettingsValues,
  limitsText: (limits: PolicyValues) => string,
): readonly FieldDifference[] {
  const { currencies = {}, limits, ...plain } = settingsChangeOf(values, before)
  const had = bodyOf(before)
  return [
    ...Object.entries(plain).map(([field, to]) => ({
      field,
      from: had[field as keyof typeof plain & keyof Body],
      to,
    })),
    ...Object.entries(currencies).map(([currency, to]) => ({
      field: `currencies.${currency}`,
      from: had.currencies[currency],
      to,
    })),
    ...(limits === undefined
      ? []
      : [{ field: 'limits', from: limitsText(before.limits), to: limitsText(values.limits) }]),
  ]
}
