/** What tests about videos share: prices by the second, films, and forms as clients send them. */
import type { Pricing } from '../../src/core/catalogue.ts'

/** Half a yuan a second: at 1000 Credits a yuan, 500 Credits. */
export const VIDEO_PRICES: Pricing = {
  billingModes: ['video_second'],
  inputPrice: null,
  outputPrice: null,
  cacheInputPrice: null,
  cacheOutputPrice: null,
  cacheWritePrice: null,
  cacheWrite1hPrice: null,
  requestPrice: null,
  imagePrice: null,
  videoPrice: '0.5',
}
