/** Converts prices between form values and request bodies; field names match, so that errors are shown beside them. */
import type { paths } from '../../api/generated.d.ts'
import { everyOf } from '../../parts/forms/every-of.ts'

export const PRICE_FIELDS = [
  'input_price',
  'output_price',
  'cache_input_price',
  'cache_write_price',
  'cache_write_1h_price',
  'cache_output_price',
  'image_price',
  'video_price',
  'request_price',
  'character_price',
  'audio_second_price',
] as const
type NewModel = paths['/api/v1/admin/models']['post']['requestBody']['content']['application/json']
export type BillingMode = NonNullable<NonNullable<NewModel['pricing']>['billing_modes']>[number]

export const BILLING_MODES = everyOf<BillingMode>({
  token: true,
  image: true,
  video_second: true,
  request: true,
  character: true,
  audio_second: true,
})

/** The billing modes that use each price. */
export const MODE_OF = {
  input_price: 'token',
  output_price: 'token',
  cache_input_price: 'token',
  cache_write_price: 'token',
  cache_write_1h_price: 'token',
  cache_output_price: 'token',
  image_price: 'image',
  video_price: 'video_second',
  request_price: 'request',
  character_price: 'character',
  audio_second_price: 'audio_second',
} as const satisfies Readonly<Record<(typeof PRICE_FIELDS)[number], BillingMode>>

export type PriceField = (typeof PRICE_FIELDS)[number]

/** A type, not an interface: the form library requires an index signature. */
export type PricingValues = { readonly currency: string; readonly billing_modes: BillingMode[] } & {
  /** Empty: none. */
  readonly [Field in PriceField]: number | string
}

export type Pricing = { readonly currency: string; readonly billing_modes: readonly string[] } & {
  readonly [Field in PriceField]: number | string | null
}

export function pricingValuesOf(pricing: Pricing | null, currency: string): PricingValues {
  const modes = pricing?.billing_modes ?? ['token']
  const price = (field: PriceField): number | string => pricing?.[field] ?? ''
  return {
    currency: pricing?.currency ?? currency,
    billing_modes: BILLING_MODES.all.filter((mode) => modes.includes(mode)),
    input_price: price('input_price'),
    output_price: price('output_price'),
    cache_input_price: price('cache_input_price'),
    cache_write_price: price('cache_write_price'),
    cache_write_1h_price: price('cache_write_1h_price'),
    cache_output_price: price('cache_output_price'),
    image_price: price('image_price'),
    video_price: price('video_price'),
    request_price: price('request_price'),
    character_price: price('character_price'),
    audio_second_price: price('audio_second_price'),
  }
}

/** A price that the billing mode does not use is left out. */
export function pricingBodyOf(values: PricingValues) {
  const price = (field: PriceField): string | null =>
    values[field] === '' || !values.billing_modes.includes(MODE_OF[field]) ? null : String(values[field])
  return {
    currency: values.currency,
    billing_modes: values.billing_modes,
    input_price: price('input_price'),
    output_price: price('output_price'),
    cache_input_price: price('cache_input_price'),
    cache_write_price: price('cache_write_price'),
    cache_write_1h_price: price('cache_write_1h_price'),
    cache_output_price: price('cache_output_price'),
    image_price: price('image_price'),
    video_price: price('video_price'),
    request_price: price('request_price'),
    character_price: price('character_price'),
    audio_second_price: price('audio_second_price'),
  }
}
