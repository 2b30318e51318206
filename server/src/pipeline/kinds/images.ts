import { NO_USAGE } from '../../core/canonical/usage.ts'
import type { Model } from '../../core/catalogue.ts'
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import type { Estimate } from '../../core/ledger/operations.ts'
import { minus, usageReaders } from '../../core/metering/counters.ts'
import type { RequestText } from '../../core/metering/request-text.ts'
import { answerForm } from '../../core/passthrough/answers/compiled-answers.ts'
import { requestForm } from '../../core/passthrough/requests/request-form.ts'
import { callAndImages, estimateInput } from '../stages/estimate.ts'
import type { EndpointKind, EstimatedCall } from './kind.ts'

/** An average picture, as vendors that bill tokens count one. */
const TOKENS_PER_IMAGE = 1_600
/** The largest picture at the best quality, with its intermediate steps. */
const TOKENS_PER_IMAGE_WORST = 16_000

const BYTES_PER_TOKEN = 4

/** No vendor makes more in one call; a higher number is a mistake or an attempt at abuse. */
const IMAGES_MAX = 100

/** Pictures from text. Those that were made are charged, whatever number was requested. */
export const IMAGES: EndpointKind = {
  id: 'images',
  flow: 'exchange',
  paths: [
    { methods: ['POST'], path: '/v1/images/generations', protocol: 'images' },
    { methods: ['POST'], path: '/v1/images/edits', protocol: 'images', forms: true },
    { methods: ['POST'], path: '/v1/images/variations', protocol: 'images', forms: true },
  ],
  chains: ['images'],
  counts: callAndImages,
  estimate,
  refuses: ({ candidates = 1 }) =>
    candidates > IMAGES_MAX ? `n: a call makes up to ${IMAGES_MAX} images` : undefined,
  forms: { files: ['image', 'mask'], refused: {} },
  form: {
    id: 'images',
    requests: requestForm({
      model: 'model',
      user: 'user',
      stream: 'stream',
      n: 'candidates',
      // Ark makes a series of pictures for one request, as many as the prompt needs.
      sequential_image_generation: 'candidates-open',
      'sequential_image_generation_options.max_images': 'candidates-most',
      // Pictures to start from are behind addresses, or in the body.
      image: 'unseen-input',
      images: 'unseen-input',
      image_url: 'unseen-input',
      mask: 'unseen-input',
      input_references: 'unseen-input',
    }),
    answers: answerForm(
      {
        stream: {
          fields: {
            type: 'type',
            model: 'model',
            usage: 'usage',
            error: 'error',
            b64_json: 'image',
            url: 'image',
          },
          events: {
            'image_generation.partial_image': 'image-part',
            'image_generation.partial_succeeded': 'item-done',
            'image_generation.completed': 'item-finish',
            'image_edit.partial_image': 'image-part',
            'image_edit.completed': 'item-finish',
            error: 'failure',
          },
          contentPrefix: undefined,
          quietBlocks: [],
          done: 'none',
          finishTerminates: true,
        },
        body: {
          fields: {
            model: 'model',
            usage: 'usage',
            error: 'error',
            'data[]': 'item',
            'data[].b64_json': 'item-image',
            'data[].url': 'item-image',
          },
        },
        imageItemType: undefined,
      },
      usageReaders({
        places: {
          // The parts of the input are reported as well; if a vendor reports no input, nothing is known about it.
          input: ['input_tokens', 'prompt_tokens'],
          cached: ['input_tokens_details.cached_tokens'],
          output: ['output_tokens', 'completion_tokens'],
        },
        toUsage: ({ input, cached, output }) => ({
          ...NO_USAGE,
          input: minus(input, cached),
          cachedInput: cached,
          output,
        }),
      }),
    ),
    text,
    tokensPerImage: TOKENS_PER_IMAGE,
    imagesMax: IMAGES_MAX,
    smallest: { prompt: 'A dot', n: 1 },
  },
}

/** Only the number of pictures is known in advance; their tokens are estimated by a rule. */
function estimate(model: Model, call: EstimatedCall): Estimate {
  const { candidates: images = 1, form, bodyBytes, mediaBytes, mediaCount } = call.scan
  const read = estimateInput(model, call)
  const textBytes = bodyBytes - mediaBytes
  return {
    ...read,
    ...(form === undefined
      ? {}
      : {
          inputTokens: Math.ceil(textBytes / BYTES_PER_TOKEN) + mediaCount * TOKENS_PER_IMAGE,
          worstInputTokens: textBytes + mediaCount * TOKENS_PER_IMAGE_WORST,
        }),
    images,
    outputTokens: images * TOKENS_PER_IMAGE,
    worstOutputTokens: images * TOKENS_PER_IMAGE_WORST,
  }
}

function text(body: JsonValue): RequestText {
  const prompt = isJsonObject(body) ? body['prompt'] : undefined
  return { texts: typeof prompt === 'string' ? [prompt] : [], messages: 0, media: 0 }
}
