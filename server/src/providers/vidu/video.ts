/** Vidu: a path for each kind of input, a link that each poll renews, and errors as fixed words. */
import type { HttpRequest } from '../../core/http-request.ts'
import type { ForwardModelId } from '../../core/ids.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import {
  classifyFailure,
  type FailureClass,
  type FailureKind,
  type UpstreamFailure,
  withHint,
} from '../../core/routing/failure.ts'
import type { VideoMedia, VideoRequest } from '../../core/video/request.ts'
import { ratioOfSize, type TierWords, tierWordOf } from '../../core/video/size.ts'
import { below } from '../provider.ts'
import type {
  VideoContext,
  VideoDialect,
  VideoFailure,
  VideoReply,
  VideoStep,
  VideoSubmission,
  VideoSubmit,
} from '../video.ts'
import { taskClassOf } from '../video-forms/failure.ts'
import { getJson, linkIn, objectAt, objectsIn, postJson, rowOf, textIn } from '../video-forms/json.ts'
import { addressOf } from '../video-forms/media.ts'
import { type ClientField, placeFields } from '../video-forms/place.ts'
import { stepOf } from '../video-forms/progress.ts'
import { secondsValue } from '../video-forms/seconds.ts'

const DEFAULT_SECONDS = 5
const POLL_MS = 8000
const LINK_MS = 24 * 3_600_000

const RATIOS = ['16:9', '9:16', '3:4', '4:3', '1:1']
const STEPS: TierWords = { '540p': '540p', '720p': '720p', '1080p': '1080p' }
const REFERENCES_MAX = 7
/** The first contains the gateway's id, the second the order's images. */
const RESERVED = ['payload', 'images']

export const viduVideo: VideoDialect = {
  auth: { kind: 'header', name: 'authorization', prefix: 'Token ' },
  imageForms: ['url', 'bytes'],
  defaultSeconds: () => DEFAULT_SECONDS,
  submit,
  accepted: read,
  step: read,
  classify,
  renew: (context) => {
    const id = textIn(context.state['id'])
    return id === undefined ? undefined : taskRequest(context, id)
  },
}

function submit(input: VideoSubmit): VideoSubmission {
  const { baseUrl, forwardModelId, request, taskId } = input
  const inputs = inputsOf(request)
  const { members, dropped } = placeFields(request, {
    members: {
      seconds: { duration: secondsValue(input) ?? DEFAULT_SECONDS },
      size: fromSize(request, inputs),
      ratio: inputs.framed ? undefined : { aspect_ratio: request.ratio },
      resolution: { resolution: request.resolution?.toLowerCase() },
      // Its documentation disagrees about the default, so the value is always sent.
      generate_audio: hasSound(forwardModelId) ? { audio: request.generateAudio ?? true } : undefined,
      seed: { seed: request.seed },
      watermark: { watermark: request.watermark },
      ...inputs.places,
    },
    reserved: RESERVED,
  })
  const body: JsonObject = {
    model: forwardModelId,
    prompt: request.prompt,
    ...(inputs.images.length > 0 ? { images: inputs.images.map(addressOf) } : {}),
    ...members,
    payload: taskId,
  }
  return {
    request: postJson(below(baseUrl, inputs.path), body),
    state: {},
    dropped: [...dropped, ...inputs.dropped],
  }
}

interface Inputs {
  readonly path: '/text2video' | '/img2video' | '/start-end2video' | '/reference2video'
  readonly images: readonly VideoMedia[]
  /** With a frame, the image's own ratio counts. */
  readonly framed: boolean
  readonly places: Partial<Record<ClientField, JsonObject>>
  readonly dropped: readonly string[]
}

function inputsOf({ firstFrame, lastFrame, referenceImages }: VideoRequest): Inputs {
  if (firstFrame !== undefined) {
    const places = { input_reference: {}, image_tail: {} }
    return lastFrame === undefined
      ? { path: '/img2video', images: [firstFrame], framed: true, places, dropped: [] }
      : { path: '/start-end2video', images: [firstFrame, lastFrame], framed: true, places, dropped: [] }
  }
  if (referenceImages.length === 0) {
    return { path: '/text2video', images: [], framed: false, places: {}, dropped: [] }
  }
  return {
    path: '/reference2video',
    images: referenceImages.slice(0, REFERENCES_MAX),
    framed: false,
    places: { reference_images: {} },
    dropped: referenceImages.length > REFERENCES_MAX ? ['reference_images'] : [],
  }
}

function fromSize({ size }: VideoRequest, { framed }: Inputs): JsonObject {
  if (size === undefined) return {}
  return {
    aspect_ratio: framed ? undefined : ratioOfSize(size, RATIOS),
    resolution: tierWordOf(size, STEPS),
  }
}

function hasSound(model: ForwardModelId): boolean {
  return /^viduq([3-9]|\d\d)/.test(model)
}

function read(reply: VideoReply, context: VideoContext): VideoStep {
  const task = objectAt(reply.body)
  const id = textIn(context.state['id']) ?? textIn(task['task_id']) ?? textIn(task['id'])
  if (id === undefined) return { kind: 'unreadable', detail: 'an answer without a task id' }
  const url = objectsIn(task['creations'])
    .map((creation) => linkIn(creation['url']))
    .find((link) => link !== undefined)
  return stepOf({
    word: task['state'],
    result: url === undefined ? undefined : { kind: 'link', url, lastsMs: LINK_MS },
    failure: failureIn(task['err_code'], reply.body),
    poll: taskRequest(context, id),
    afterMs: POLL_MS,
    state: { id },
  })
}

function taskRequest({ baseUrl }: VideoContext, id: string): HttpRequest {
  return getJson(below(baseUrl, `/tasks/${encodeURIComponent(id)}/creations`))
}

/** Codes, found in a refused call as `reason` or `err_code`, in a failed task as `err_code`. */
const CODES: Readonly<Record<string, FailureKind>> = {
  badrequest: 'request',
  fieldlacking: 'request',
  fieldunwanted: 'request',
  fieldinvalid: 'request',
  fielditemcountoutofrange: 'request',
  imagedownloadfailure: 'request',
  imageformatinvalid: 'request',
  taskpromptpolicyviolation: 'refused-content',
  auditsubmitillegal: 'refused-content',
  creationpolicyviolation: 'refused-content',
  creditinsufficient: 'quota',
  quotaexceeded: 'rate-limited',
  toomanyrequests: 'rate-limited',
  systemthrottling: 'rate-limited',
  unauthorized: 'auth',
  forbidden: 'auth',
  modelunavailable: 'not-found',
  tasknotfound: 'not-found',
  internalservicefailure: 'overloaded',
  operationinprocess: 'overloaded',
  conflict: 'overloaded',
}

function classify(failure: UpstreamFailure): FailureClass {
  const kind = isJsonObject(failure.body) ? kindIn(failure.body) : undefined
  return kind === undefined ? classifyFailure(failure) : withHint(kind, failure)
}

function kindIn(body: JsonObject): FailureKind | undefined {
  const words = [body['err_code'], body['reason'], body['code'], objectAt(body, 'error')['code']]
  return words
    .map((word) => rowOf(CODES, textIn(word)?.toLowerCase() ?? ''))
    .find((kind) => kind !== undefined)
}

function failureIn(code: JsonValue | undefined, body: JsonValue | undefined): VideoFailure | undefined {
  const word = textIn(code)
  if (word === undefined) return undefined
  const kind = rowOf(CODES, word.toLowerCase()) ?? 'overloaded'
  return {
    class: word.toLowerCase() === 'usercancelled' ? 'cancelled' : taskClassOf(kind),
    code: word,
    message: textIn(objectAt(body)['err_msg']) ?? textIn(objectAt(body)['message']) ?? '',
    body,
  }
}
