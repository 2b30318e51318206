import { say, type Sentence } from '../../core/sentences/say.ts'
import { missingPrices } from '../../config/gateway-file/gateway-file.ts'
import {
  BILLING_MODES,
  billedBy,
  type ChainProtocol,
  makesOutputTokens,
  type Model,
  type Pricing,
} from '../../core/catalogue.ts'
import { isJsonObject, type JsonObject } from '../../core/json.ts'
import type { FieldMistake } from '../keys/keys.ts'

/** The currency does not matter for which prices exist. */
type Prices = Omit<Pricing, 'currency'>

/**
 * Why calls over such a chain could not be charged; undefined: they can. A chain without a price would give its calls
 * away, so it is never switched on.
 */
export function missingPrice(pricing: Prices, protocol: ChainProtocol): Sentence | undefined {
  if (pricing.billingModes.length === 0) return say('model-without-billing-mode')
  const [missing] = missingPrices(pricing)
  if (missing !== undefined) return say('model-lacks-price', { price: missing.name, mode: missing.mode })
  if (needsOutputPrice(pricing, [protocol]))
    return say('model-lacks-price', { price: 'output_price', mode: 'token' })
  const ways = billedBy(protocol)
  if (!pricing.billingModes.some((mode) => ways.includes(mode)))
    return say('billed-by-none', { protocol, ways: ways.join(' or ') })
  return undefined
}

export const OUTPUT_PRICE_MISSING = say('missing-for-mode', { mode: 'token' })

/** Whether answers over these chains have output tokens, which need a price; assumed so if there are no chains. */
export function needsOutputPrice(
  { billingModes, outputPrice }: Pick<Prices, 'billingModes' | 'outputPrice'>,
  protocols: readonly ChainProtocol[],
): boolean {
  if (outputPrice !== null || !billingModes.includes('token')) return false
  return protocols.length === 0 || protocols.some(makesOutputTokens)
}

/** The enabled chain of a model that a change of its prices would leave without a price. */
export function missingPriceAfter(body: JsonObject, model: Model): readonly FieldMistake[] {
  const { pricing } = body
  if (!isJsonObject(pricing)) return []
  const after = pricingOfForm(pricing)
  const why = model.chains
    .filter((chain) => chain.status === 'enabled')
    .map((chain) => missingPrice(after, chain.protocol))
    .find((one) => one !== undefined)
  return why === undefined ? [] : [{ path: 'pricing', message: say('chain-without-price', { why }) }]
}

/** Reads only which prices exist; the file's readers check the values. */
function pricingOfForm(form: JsonObject): Prices {
  const price = (name: string): string | null => {
    const value = form[name]
    return typeof value === 'string' || typeof value === 'number' ? String(value) : null
  }
  const modes = Array.isArray(form['billing_modes']) ? form['billing_modes'] : ['token']
  return {
    billingModes: BILLING_MODES.filter((mode) => modes.includes(mode)),
    inputPrice: price('input_price'),
    outputPrice: price('output_price'),
    cacheInputPrice: null,
    cacheOutputPrice: null,
    cacheWritePrice: null,
    cacheWrite1hPrice: null,
    requestPrice: price('request_price'),
    imagePrice: price('image_price'),
    videoPrice: price('video_price'),
    characterPrice: price('character_price'),
    audioSecondPrice: price('audio_second_price'),
  }
}
