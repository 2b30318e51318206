/** Pictures by models of Amazon (Nova Canvas, Titan) and Stability, in base64 (docs/protocols.md#images). */
import { isJsonArray } from '../../core/canonical/json-text.ts'
import type { JsonObject, JsonValue } from '../../core/json.ts'
import { GENERATIONS } from '../dialects/images-dialect.ts'
import { countOf, isSize, picturesInBase64, shapeOf } from '../dialects/pictures.ts'
import { renamed } from '../dialects/rename.ts'
import type { FormRewrite, PassedDialect } from '../provider.ts'
import { objectAt, rowOf } from '../video-forms/json.ts'
import { invoked } from './invoke.ts'

const OF_STABILITY = /stability\./

const QUALITIES: Readonly<Record<string, string>> = {
  standard: 'standard',
  premium: 'premium',
  hd: 'premium',
  high: 'premium',
}
/** The vendor's own members, which a client may add; of the text, and of the pictures. */
const OF_TEXT = { negative_prompt: 'negativeText', style: 'style' }
const OF_PICTURES = { seed: 'seed', cfg_scale: 'cfgScale', cfgScale: 'cfgScale' }

const amazon: FormRewrite = {
  request: ({ model = null, prompt = null, n, size, quality, response_format: _bytes, ...rest }) => {
    const { negative_prompt, style, ...others } = rest
    const { members: text } = renamed({ negative_prompt, style }, OF_TEXT)
    const { members: pictures, dropped } = renamed(others, OF_PICTURES)
    const count = countOf(n)
    const pixels = shapeOf(size, 'pixels')
    const grade = typeof quality === 'string' ? rowOf(QUALITIES, quality) : undefined
    return {
      body: {
        taskType: 'TEXT_IMAGE',
        textToImageParams: { text: prompt, ...text },
        imageGenerationConfig: {
          ...(count === undefined ? {} : { numberOfImages: count }),
          ...objectAt(pixels),
          ...(grade === undefined ? {} : { quality: grade }),
          ...pictures,
        },
      },
      dropped: [
        ...left('size', isSize(size) && pixels === undefined),
        ...left('quality', quality !== undefined && quality !== 'auto' && grade === undefined),
        ...dropped,
      ],
      context: { model },
    }
  },
  // What was made is an answer, even if something of it was withheld: `error` then says what.
  answer: ({ images, error }) => {
    const data = picturesInBase64(images)
    if (data.length > 0) return { data }
    return typeof error === 'string' && error !== '' ? withheld(error) : undefined
  },
}

const RATIOS = ['1:1', '16:9', '21:9', '2:3', '3:2', '4:5', '5:4', '9:16', '9:21']
const OF_STABLE_IMAGES = {
  aspect_ratio: 'aspect_ratio',
  negative_prompt: 'negative_prompt',
  output_format: 'output_format',
  seed: 'seed',
}
/** A word of the vendor's own, besides reasons of its filters. */
const BROKEN = 'Inference error'

const stability: FormRewrite = {
  request: ({ model = null, prompt = null, n, size, response_format: _bytes, ...rest }) => {
    const { members, dropped } = renamed(rest, OF_STABLE_IMAGES)
    const count = countOf(n)
    const ratio = shapeOf(size, RATIOS)
    return {
      body: { prompt, ...(ratio === undefined ? {} : { aspect_ratio: ratio }), ...members },
      dropped: [
        ...left('n', count !== undefined && count !== 1),
        ...left('size', isSize(size) && ratio === undefined),
        ...dropped,
      ],
      context: { model },
    }
  },
  answer: ({ images, finish_reasons: told }) => {
    const reasons = isJsonArray(told) ? told : []
    const made = isJsonArray(images) ? images.filter((_picture, at) => (reasons[at] ?? null) === null) : []
    const data = picturesInBase64(made)
    if (data.length > 0) return { data }
    const reason = reasons.find((one): one is string => typeof one === 'string')
    if (reason === undefined) return undefined
    return reason === BROKEN
      ? { error: { message: reason, type: 'api_error', code: null } }
      : withheld(reason)
  },
}

function left(name: string, isLeft: boolean): readonly string[] {
  return isLeft ? [name] : []
}

function withheld(message: string): JsonObject {
  return { error: { message, type: 'invalid_request_error', code: 'content_filter' } }
}

function isOfStability(model: JsonValue | undefined): boolean {
  return typeof model === 'string' && OF_STABILITY.test(model)
}

const formOf = (model: JsonValue | undefined) => (isOfStability(model) ? stability : amazon)

export const bedrockImages: PassedDialect = invoked(
  'images',
  {
    request: (asked) => formOf(asked['model']).request(asked),
    answer: (body, context) => formOf(context['model']).answer(body, context),
  },
  { paths: [GENERATIONS], makesOne: isOfStability },
)
