/** fal's queue: the order returns two addresses: one reports when the request has ended, the other its result. */
import type { HttpRequest } from '../../core/http-request.ts'
import type { JsonObject, JsonValue } from '../../core/json.ts'
import { below } from '../provider.ts'
import type {
  VideoContext,
  VideoDialect,
  VideoFailure,
  VideoReply,
  VideoResult,
  VideoStep,
  VideoSubmission,
  VideoSubmit,
} from '../video.ts'
import { failedStep, taskClassOf } from '../video-forms/failure.ts'
import {
  getJson,
  linkIn,
  numberIn,
  objectAt,
  objectsIn,
  originOf,
  postJson,
  textIn,
} from '../video-forms/json.ts'
import { addressOf } from '../video-forms/media.ts'
import { OTHER_LENGTHS } from '../video-forms/other-lengths.ts'
import { type ClientField, placeFields } from '../video-forms/place.ts'
import { stepOf, taskWord } from '../video-forms/progress.ts'
import { secondsValue } from '../video-forms/seconds.ts'
import { shapePlaces } from '../video-forms/shape.ts'
import { failureOf } from '../video-forms/vendor-failure.ts'
import { appOf, endpointFor, type FalForm, formOf } from './endpoints.ts'
import { classify } from './failures.ts'
import { WORDS } from './failure-words.ts'

const POLL_MS = 3_000
/** The request has ended, so the result is available. */
const RESULT_MS = 1_000
/** Retention of the files, chosen with the order. */
const LINK_SECONDS = 48 * 3_600

export const falVideo: VideoDialect = {
  auth: { kind: 'header', name: 'authorization', prefix: 'Key ' },
  imageForms: ['url', 'bytes'],
  defaultSeconds: (model) => formOf(model).defaultSeconds,
  submit,
  accepted: read,
  step: read,
  classify,
  verdict,
}

function submit(input: VideoSubmit): VideoSubmission {
  const { baseUrl, forwardModelId, request } = input
  const endpoint = endpointFor(forwardModelId, request)
  const { members, dropped } = placeFields(request, {
    members: placesOf(input, formOf(endpoint)),
    reserved: OTHER_LENGTHS,
  })
  const posted = postJson(below(baseUrl, `/${endpoint}`), { prompt: request.prompt, ...members })
  const lifetime = JSON.stringify({ expiration_duration_seconds: LINK_SECONDS })
  return {
    request: { ...posted, headers: { ...posted.headers, 'x-fal-object-lifecycle-preference': lifetime } },
    state: { app: appOf(endpoint) },
    dropped,
  }
}

function placesOf(input: VideoSubmit, form: FalForm): Partial<Record<ClientField, JsonObject | undefined>> {
  const { request } = input
  const { firstFrame, lastFrame } = request
  return {
    ...shapePlaces(request, {
      names: { ratio: 'aspect_ratio', resolution: 'resolution' },
      ratios: firstFrame === undefined ? form.ratios : [],
      tiers: form.tiers,
      letterCase: Object.values(form.tiers).some((word) => word.endsWith('P')) ? 'upper' : 'lower',
    }),
    seconds: { duration: lengthOf(input, form) },
    input_reference: { [form.first]: firstFrame === undefined ? undefined : addressOf(firstFrame) },
    image_tail:
      form.last === undefined || firstFrame === undefined
        ? undefined
        : { [form.last]: lastFrame === undefined ? undefined : addressOf(lastFrame) },
    reference_images: listed(form.references, request.referenceImages.map(addressOf)),
    reference_videos: listed(form.referenceVideos, request.referenceVideos),
    reference_audios: listed(form.referenceAudios, request.referenceAudios),
    negative_prompt: { negative_prompt: request.negativePrompt },
    generate_audio: { generate_audio: request.generateAudio },
    seed: { seed: request.seed },
    prompt_extend:
      form.promptExtend === undefined ? undefined : { [form.promptExtend]: request.promptExtend },
  }
}

function lengthOf(input: VideoSubmit, form: FalForm): JsonValue | undefined {
  const value = secondsValue(input)
  if (typeof value !== 'number') return value
  switch (form.seconds) {
    case 'number':
      return value
    case 'text':
      return String(value)
    case 'suffixed':
      return `${value}s`
  }
}

/** A plural name gets the list, a singular name its first entry. */
function listed(name: string | undefined, addresses: readonly string[]): JsonObject | undefined {
  if (name === undefined) return undefined
  if (addresses.length === 0) return {}
  return { [name]: name.endsWith('s') ? addresses : addresses[0] }
}

function read(reply: VideoReply, context: VideoContext): VideoStep {
  const body = objectAt(reply.body)
  const id = textIn(context.state['id']) ?? textIn(body['request_id'])
  const failure = failureIn(reply)
  if (id === undefined) {
    if (failure !== undefined) return failedStep(failure, context.state)
    return { kind: 'unreadable', detail: 'an answer without a request id' }
  }
  const state = stateOf(body, context, id)
  const asksResult = context.state['asks'] === 'result'
  const result = asksResult ? resultIn(body) : undefined
  // The status only says that it has ended: the other address reports how, a refusal by its HTTP status.
  const over = !asksResult && taskWord(body['status']) === 'done' && failure === undefined
  return stepOf({
    word: asksResult ? (result === undefined ? undefined : 'done') : over ? 'in_progress' : body['status'],
    result,
    failure,
    poll: requestOf(over ? 'response' : 'status', context, state),
    afterMs: over ? RESULT_MS : POLL_MS,
    state: over ? { ...state, asks: 'result' } : state,
    secondsProduced: numberIn(objectAt(body, 'video')['duration']),
    size: sizeIn(objectAt(body, 'video')),
  })
}

function stateOf(body: JsonObject, { baseUrl, state }: VideoContext, id: string): JsonObject {
  if (state['id'] !== undefined) return state
  // The key is sent to its addresses only if they are on the host of the order.
  const own = (name: string): JsonObject => {
    const url = linkIn(body[`${name}_url`])
    return url === undefined || originOf(url) !== originOf(baseUrl) ? {} : { [name]: url }
  }
  return { ...state, id, ...own('status'), ...own('response') }
}

function requestOf(
  name: 'status' | 'response',
  { baseUrl, forwardModelId }: VideoContext,
  state: JsonObject,
): HttpRequest {
  const app = textIn(state['app']) ?? appOf(forwardModelId)
  const url = below(baseUrl, `/${app}/requests/${encodeURIComponent(textIn(state['id']) ?? '')}`)
  return getJson(textIn(state[name]) ?? (name === 'status' ? `${url}/status` : url))
}

/** A file, a list of files, or an address; on request, some endpoints deliver the bytes as a `data:` address. */
function resultIn(body: JsonObject): VideoResult | undefined {
  const entries = [body['video'], ...objectsIn(body['videos']), body['output']]
  const url = entries
    .map((entry) => (typeof entry === 'string' ? entry : textIn(objectAt(entry)['url'])))
    .find((text) => text !== undefined)
  if (url === undefined) return undefined
  const inline = /^data:([^;,]+);base64,/.exec(url)
  if (inline !== null) {
    return { kind: 'base64', data: url.slice(inline[0].length), mediaType: inline[1] ?? 'video/mp4' }
  }
  const link = linkIn(url)
  return link === undefined ? undefined : { kind: 'link', url: link, lastsMs: LINK_SECONDS * 1000 }
}

function sizeIn(video: JsonObject): string | undefined {
  const [width, height] = [numberIn(video['width']), numberIn(video['height'])]
  return width === undefined || height === undefined ? undefined : `${width}x${height}`
}

/** `detail` entries of a refused input, or the error of a failed request. */
function failureIn({ body }: VideoReply): VideoFailure | undefined {
  const top = objectAt(body)
  const entry = objectsIn(top['detail'])[0]
  const code = textIn(entry?.['type']) ?? textIn(top['error_type'])
  const message = textIn(entry?.['msg']) ?? textIn(top['detail']) ?? textIn(top['error'])
  if (code === undefined && message === undefined) return undefined
  const failure = failureOf({ code, message, body, words: WORDS })
  return code === 'client_cancelled' ? { ...failure, class: 'cancelled' } : failure
}

/** A failed task counts as completed, and the request for its result is answered with the failure's own status. */
function verdict(reply: VideoReply, context: VideoContext): VideoStep | undefined {
  if (context.state['asks'] !== 'result') return undefined
  const failure = failureIn(reply)
  const { kind } = classify(reply)
  if (failure === undefined) return undefined
  if (kind === 'refused-content' || kind === 'request') {
    return failedStep({ ...failure, class: taskClassOf(kind) }, context.state)
  }
  // A problem of the task or of the queue: a few more polls decide.
  return reply.status >= 500
    ? { kind: 'unreadable', detail: `a result with status ${reply.status}` }
    : undefined
}
