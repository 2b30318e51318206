import { type ChainCapabilities, IMAGE_WORDS, REASONING_WORDS, SAMPLING_WORDS } from '../../core/catalogue.ts'
import { openMap, type Read } from './map-reader.ts'
import { boolean, integer, word } from './values.ts'

/** More stop sequences than any vendor takes. */
const STOP_MAX = 64

/** Capabilities of a chain's model that the file states; writing some replaces all. */
export const readCapabilities: Read<ChainCapabilities> = (node, report) => {
  const map = openMap(node, report)
  if (map === undefined) return undefined
  const reasoning = map.optional('reasoning', word(REASONING_WORDS))
  const sampling = map.optional('sampling', word(SAMPLING_WORDS))
  const tools = map.optional('tools', boolean)
  const images = map.optional('images', word(IMAGE_WORDS))
  const stopMax = map.optional('max_stop', integer({ least: 0, most: STOP_MAX }))
  map.close()
  return {
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(sampling === undefined ? {} : { sampling }),
    ...(tools === undefined ? {} : { tools }),
    ...(images === undefined ? {} : { images }),
    ...(stopMax === undefined ? {} : { stopMax }),
  }
}
