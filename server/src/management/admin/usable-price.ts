import { PRICES_OF_MODE } from '../../config/gateway-file/gateway-file.ts'
import type { ChainProtocol, Pricing } from '../../core/catalogue.ts'

/**
 * Why calls over such a chain could not be charged; undefined: they can. A chain nobody can be charged for gives its
 * calls away, so it is never switched on.
 */
export function missingPrice(pricing: Pricing, protocol: ChainProtocol): string | undefined {
  const given: Readonly<Record<string, string | null>> = {
    input_price: pricing.inputPrice,
    output_price: pricing.outputPrice,
    image_price: pricing.imagePrice,
    video_price: pricing.videoPrice,
    request_price: pricing.requestPrice,
  }
  if (pricing.billingModes.length === 0) return 'the model has no billing mode'
  for (const mode of pricing.billingModes) {
    for (const name of PRICES_OF_MODE[mode]) {
      if (given[name] === null) return `the model has no ${name}, which billing mode ${mode} needs`
    }
  }
  const isBilled = (mode: (typeof pricing.billingModes)[number]) => pricing.billingModes.includes(mode)
  if (protocol === 'video' && !isBilled('video_second') && !isBilled('request'))
    return 'a video is billed by video_second or request, and the model has neither billing mode'
  if (protocol !== 'video' && pricing.billingModes.every((mode) => mode === 'video_second'))
    return `calls over ${protocol} have no video seconds, and the model is billed by nothing else`
  return undefined
}
