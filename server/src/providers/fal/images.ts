/**
 * Images by the endpoints of fal, over its queue: an order, polls until it has ended, and one more request for the
 * result. Their forms are taken from their schemas, read in 2026; an endpoint ignores unknown members.
 */
import type { JsonObject } from '../../core/json.ts'
import { GENERATIONS } from '../dialects/images-dialect.ts'
import { passedDialect } from '../dialects/passed.ts'
import {
  countOf,
  isSize,
  ownMembers,
  type PictureShape,
  picturesAsked,
  picturesIn,
  shapeOf,
} from '../dialects/pictures.ts'
import { reportedError } from '../video-forms/reported-error.ts'
import { below, type FormRewrite, type PassedDialect, type TaskReply } from '../provider.ts'
import { idIn, linkIn, objectsIn, originOf, textIn } from '../video-forms/json.ts'
import { appOf } from './endpoints.ts'
import { classify } from './failures.ts'

const RATIOS = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '21:9']
/** Endpoints that accept a ratio where most accept pixels. */
const OF_RATIOS = /nano-banana|imagen|gemini|v1\.1-ultra|kontext|photon|minimax\/image|kling-image|bria|grok/
const OF_OPENAI = /gpt-image|dall-e/
/** Retention of its files, chosen with the order: a day, as elsewhere. */
const LINK_SECONDS = 24 * 3_600

const rewrite: FormRewrite = {
  linkedPictures: true,
  request: ({ model = null, prompt = null, n, size, response_format: format, ...rest }) => {
    const endpoint = typeof model === 'string' ? model : ''
    const openai = OF_OPENAI.test(endpoint)
    const { members, dropped } = ownMembers(rest, { openai })
    const count = countOf(n)
    const { name, shape } = sizeOf(endpoint)
    const shaped = shapeOf(size, shape)
    return {
      body: {
        prompt,
        ...(count === undefined ? {} : { num_images: count }),
        ...(shaped === undefined ? {} : { [name]: shaped }),
        ...members,
      },
      dropped: isSize(size) && shaped === undefined ? ['size', ...dropped] : dropped,
      context: picturesAsked({ response_format: format }),
    }
  },
  answer: (body) => {
    const error = errorIn(body)
    if (error !== undefined) return error
    const data = picturesIn(body['images'] ?? body['image'] ?? body['output'])
    return data.length === 0 ? undefined : { data }
  },
}

function sizeOf(endpoint: string): { readonly name: string; readonly shape: PictureShape } {
  if (OF_OPENAI.test(endpoint)) return { name: 'image_size', shape: 'text' }
  return OF_RATIOS.test(endpoint)
    ? { name: 'aspect_ratio', shape: RATIOS }
    : { name: 'image_size', shape: 'pixels' }
}

/** The error of a failed request, or of an input that its endpoint refuses. */
function errorIn(body: JsonObject): JsonObject | undefined {
  const entry = objectsIn(body['detail'])[0]
  const code = textIn(entry?.['type']) ?? textIn(body['error_type'])
  const message = textIn(entry?.['msg']) ?? textIn(body['detail']) ?? textIn(body['error'])
  if (code === undefined && message === undefined) return undefined
  const { kind } = classify({ status: 200, headers: {}, body })
  return reportedError({ code, message: message ?? code ?? '', kind })
}

/** The addresses for polling a request and for its result. Addresses of other hosts never get the key. */
function placesOf(order: JsonObject, baseUrl: string, endpoint: string) {
  const id = encodeURIComponent(textIn(order['request_id']) ?? '')
  const own = below(baseUrl, `/${appOf(endpoint)}/requests/${id}`)
  const told = (name: string) => {
    const url = linkIn(order[name])
    return url !== undefined && originOf(url) === originOf(baseUrl) ? url : undefined
  }
  return { status: told('status_url') ?? `${own}/status`, result: told('response_url') ?? own }
}

function read(
  { body, order = body, asked }: TaskReply,
  { baseUrl, forwardModelId }: { readonly baseUrl: string; readonly forwardModelId: string },
) {
  if (idIn(order['request_id']) === undefined) return 'unclear'
  const { status, result } = placesOf(order, baseUrl, forwardModelId)
  if (asked === result) return 'over'
  const state = body['status']
  // `COMPLETED` only means that it has ended; an error field says that it failed.
  if (state === 'COMPLETED') return errorIn(body) === undefined ? { url: result, headers: {} } : 'over'
  const goesOn = asked === undefined || state === 'IN_QUEUE' || state === 'IN_PROGRESS'
  return goesOn ? { url: status, headers: {} } : 'unclear'
}

export const falImages: PassedDialect = {
  ...passedDialect({
    protocol: 'images',
    path: '',
    auth: { kind: 'header', name: 'authorization', prefix: 'Key ' },
    classify,
    rewrite,
  }),
  paths: [GENERATIONS],
  modelPlace: 'path',
  form: ({ baseUrl, operation, forwardModelId }) => {
    if (operation === 'count-tokens') return undefined
    const lifetime = JSON.stringify({ expiration_duration_seconds: LINK_SECONDS })
    return {
      method: 'POST',
      url: below(baseUrl, `/${forwardModelId}`),
      headers: { 'x-fal-object-lifecycle-preference': lifetime },
    }
  },
  tasks: { isTask: () => true, read },
}
