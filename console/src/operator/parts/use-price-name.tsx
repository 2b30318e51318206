import type { ReactNode } from 'react'
import { PRICE_FIELDS } from './pricing-values.ts'
import { useTranslation } from '../../texts/use-translation.ts'

/** The name of a field of a price list. */
export function usePriceName(): (field: string) => ReactNode {
  const { t } = useTranslation()
  return (field) => {
    const price = PRICE_FIELDS.find((each) => each === field)
    return price === undefined ? <code>{field}</code> : t(`operate.prices.${price}`)
  }
}
