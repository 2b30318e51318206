/** Pictures by Fireworks: an address for each model, and one picture in base64 (docs/protocols.md#images). */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import type { JsonValue } from '../../core/json.ts'
import { GENERATIONS } from '../dialects/images-dialect.ts'
import { passedDialect } from '../dialects/passed.ts'
import { countOf, isSize, picturesInBase64, shapeOf } from '../dialects/pictures.ts'
import { renamed } from '../dialects/rename.ts'
import { below, type FormRewrite, type PassedDialect } from '../provider.ts'
import { WORDS } from './failure-words.ts'

const RATIOS = ['1:1', '21:9', '16:9', '3:2', '5:4', '4:5', '2:3', '9:16', '9:21', '4:3', '3:4']
/** Its own members, which a client may add. */
const NAMES = {
  prompt: 'prompt',
  aspect_ratio: 'aspect_ratio',
  guidance_scale: 'guidance_scale',
  num_inference_steps: 'num_inference_steps',
  seed: 'seed',
}
const MADE = 'SUCCESS'
/** Before the base64 of a picture. */
const ADDRESS = /^data:[^,]{0,64};base64,/

const rewrite: FormRewrite = {
  request: ({ model: _inPath, n, size, response_format: format, ...rest }) => {
    const { members, dropped } = renamed(rest, NAMES)
    const ratio = shapeOf(size, RATIOS)
    const count = countOf(n)
    return {
      body: { ...(ratio === undefined ? {} : { aspect_ratio: ratio }), ...members },
      dropped: [
        ...(count !== undefined && count !== 1 ? ['n'] : []),
        ...(isSize(size) && ratio === undefined ? ['size'] : []),
        ...(format === 'url' ? ['response_format'] : []),
        ...dropped,
      ],
      context: {},
    }
  },
  answer: ({ base64: made, finishReason: reason }) => {
    const data = picturesInBase64(bare(made))
    if (data.length > 0) return { data }
    return typeof reason === 'string' && reason !== MADE
      ? { error: { message: reason, type: 'invalid_request_error', code: 'content_filter' } }
      : undefined
  },
}

/** One picture, or a list of them, as bare base64. */
function bare(made: JsonValue | undefined): JsonValue {
  const all = isJsonArray(made) ? made : [made ?? null]
  return all.map((picture) => (typeof picture === 'string' ? picture.replace(ADDRESS, '') : picture))
}

export const fireworksImages: PassedDialect = {
  ...passedDialect({ protocol: 'images', path: '', words: WORDS, rewrite }),
  modelPlace: 'path',
  paths: [GENERATIONS],
  makesOne: () => true,
  form: ({ baseUrl, forwardModelId, operation }) => {
    if (operation === 'count-tokens') return undefined
    const model = forwardModelId.split('/').map(encodeURIComponent).join('/')
    return {
      method: 'POST',
      url: below(baseUrl, `/workflows/${model}/text_to_image`),
      headers: { accept: 'application/json' },
    }
  },
}
