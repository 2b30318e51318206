import type { Offer } from '../api/models.ts'
import { useFormat } from '../parts/values/format.ts'
import { priceText } from '../parts/values/price-text.ts'
import styles from './models.module.css'
import { rateOf } from './use-models.ts'
import { useTranslation } from '../texts/use-translation.ts'

/** Per million tokens, per image, per second, per request. */
export const PRICES = [
  'input_price',
  'cache_input_price',
  'cache_write_price',
  'cache_write_1h_price',
  'output_price',
  'cache_output_price',
  'image_price',
  'video_price',
  'request_price',
  'character_price',
  'audio_second_price',
] as const
export type Price = (typeof PRICES)[number]

/** The billing mode of each price. */
const MODES = {
  input_price: 'token',
  cache_input_price: 'token',
  cache_write_price: 'token',
  cache_write_1h_price: 'token',
  output_price: 'token',
  cache_output_price: 'token',
  image_price: 'image',
  video_price: 'video_second',
  request_price: 'request',
  character_price: 'character',
  audio_second_price: 'audio_second',
} as const satisfies Readonly<Record<Price, string>>

/** Whether the model's billing mode uses the price. */
export function isBilled({ billing_modes }: Offer, price: Price): boolean {
  return billing_modes.includes(MODES[price])
}

/** The name of a price and the quantity it is for. */
export function PriceName({ price }: { readonly price: Price }) {
  const { t } = useTranslation()
  return (
    <>
      {t(`models.prices.${price}`)}
      <span className={styles.unit}>{t(`models.units.${price}`)}</span>
    </>
  )
}

/** The person's own price, with the list price in the title if it differs. */
export function OwnPrice({ offer, price }: { readonly offer: Offer; readonly price: Price }) {
  const { t } = useTranslation()
  const { language } = useFormat()
  const rate = rateOf(offer)
  const list = offer[price]
  return (
    <span
      className={styles.price}
      title={
        rate === 1 ? undefined : t('models.listPrice', { price: priceText(list, offer.currency, language) })
      }
    >
      {priceText(list * rate, offer.currency, language)}
    </span>
  )
}
