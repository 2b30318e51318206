/** A model in few words: whether it is offered, to whom, and at which prices. */
import type { AnyModel } from '../../api/operator/catalogue.ts'
import { useFormat } from '../../parts/values/format.ts'
import { priceText } from '../../parts/values/price-text.ts'
import { State } from '../../parts/marks/state.tsx'
import table from '../../parts/lists/table.module.css'
import { MODE_OF, PRICE_FIELDS, type PriceField, type Pricing } from '../parts/pricing-values.ts'
import { useTranslation } from '../../texts/use-translation.ts'

export const MODEL_STATES = ['offered', 'hidden', 'maintenance', 'disabled'] as const
export type ModelState = (typeof MODEL_STATES)[number]
export const VERIFICATIONS = ['none', 'personal', 'enterprise'] as const

export function stateOf({ status, client_visible: visible }: AnyModel): ModelState {
  if (status === 'disabled') return 'disabled'
  if (status === 'maintenance') return 'maintenance'
  return visible ? 'offered' : 'hidden'
}

const SIGNS = {
  offered: { icon: 'done', tone: 'good' },
  hidden: { icon: 'eyeClosed', tone: 'quiet' },
  maintenance: { icon: 'tool', tone: 'warn' },
  disabled: { icon: 'paused', tone: 'quiet' },
} as const

export function ModelStateWord({ of }: { readonly of: AnyModel }) {
  const { t } = useTranslation()
  const state = stateOf(of)
  return <State {...SIGNS[state]}>{t(`catalogue.states.${state}`)}</State>
}

/** What an account needs before it may call it. */
export function useAdmissionWords(): (model: AnyModel) => string {
  const { t } = useTranslation()
  return ({ required_verification: verification, required_plan: plan }) =>
    [
      ...(verification === 0
        ? []
        : [t(`catalogue.verifications.${VERIFICATIONS[verification] ?? 'enterprise'}`)]),
      ...(plan === 0 ? [] : [t('catalogue.planLevel', { level: plan })]),
    ].join(', ') || t('catalogue.everybody')
}

/** The prices that a model is billed by, in display order. */
export function billedPrices(pricing: Pricing): readonly PriceField[] {
  return PRICE_FIELDS.filter(
    (field) => pricing[field] !== null && pricing.billing_modes.includes(MODE_OF[field]),
  )
}

/** One price; a dash if there is none. */
export function usePriceText(): (pricing: Pricing, field: PriceField) => string {
  const { language } = useFormat()
  return (pricing, field) => {
    const value = pricing[field]
    return value === null ? '–' : priceText(Number(value), pricing.currency, language)
  }
}

/** Prices of units other than tokens. */
const EACH = ['image_price', 'video_price', 'request_price', 'character_price', 'audio_second_price'] as const

/** Input and output prices by tokens; prices of other units below. */
export function PriceCell({ of }: { readonly of: Pricing }) {
  const { t } = useTranslation()
  const priceOf = usePriceText()
  const billed: readonly string[] = billedPrices(of)
  const others = EACH.filter((field) => billed.includes(field))
  const isByToken = of.billing_modes.includes('token')
  return (
    <>
      {isByToken && (
        <span className={table.first}>
          {priceOf(of, 'input_price')} / {priceOf(of, 'output_price')}
        </span>
      )}
      {others.map((field) => (
        <span key={field} className={isByToken ? table.second : table.first}>
          {priceOf(of, field)} <span className={table.muted}>{t(`operate.each.${field}`)}</span>
        </span>
      ))}
    </>
  )
}
