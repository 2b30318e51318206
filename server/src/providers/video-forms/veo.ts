/** Veo's form, which the Gemini API and Vertex AI share except for the fields of images, links and filtered results. */
import { encodeBase64Bytes } from '../../core/canonical/media/base64.ts'
import type { HttpRequest } from '../../core/http-request.ts'
import type { ForwardModelId } from '../../core/ids.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import type { VideoMedia, VideoRequest, VideoSize } from '../../core/video/request.ts'
import { ratioOfSize, type TierWords, tierWordOf } from '../../core/video/size.ts'
import type { VideoContext, VideoFailure, VideoReply, VideoResult, VideoStep, VideoSubmit } from '../video.ts'
import { failedStep } from './failure.ts'
import { type ClientField, placeFields } from './place.ts'
import { objectAt, objectsIn, rowOf, textIn } from './json.ts'
import { secondsValue } from './seconds.ts'

/** Also the only length at which it makes more than 720p. */
export const VEO_DEFAULT_SECONDS = 8

const RATIOS = ['16:9', '9:16']
const STEPS: TierWords = { '720p': '720p', '1080p': '1080p', '4k': '4k' }
const STEPS_LITE: TierWords = { '720p': '720p', '1080p': '1080p' }
const REFERENCES_MAX = 3
/** One task, one video; no bucket or topic chosen by the client. */
const RESERVED = ['durationSeconds', 'sampleCount', 'numberOfVideos', 'storageUri', 'pubsubTopic']

export interface VeoForm {
  readonly body: JsonObject
  readonly dropped: readonly string[]
}

/** `more`: additional fields of this host; `always`: parameters that the client cannot change. */
export function veoForm(
  submit: VideoSubmit,
  host: {
    readonly more?: Partial<Record<ClientField, JsonObject>>
    readonly always?: JsonObject
  } = {},
): VeoForm {
  const { request, forwardModelId } = submit
  const pictures = picturesOf(request, forwardModelId)
  const { members, dropped } = placeFields(request, {
    members: { ...placesOf(submit), ...pictures.places, ...host.more },
    reserved: RESERVED,
  })
  return {
    body: {
      instances: [{ prompt: request.prompt, ...pictures.instance }],
      parameters: { ...members, ...host.always },
    },
    dropped: [...dropped, ...pictures.dropped],
  }
}

function placesOf(submit: VideoSubmit): Partial<Record<ClientField, JsonObject | undefined>> {
  const { request } = submit
  return {
    seconds: { durationSeconds: secondsValue(submit) ?? VEO_DEFAULT_SECONDS },
    size: request.size === undefined ? undefined : fromSize(request.size, submit),
    ratio: { aspectRatio: request.ratio },
    resolution: { resolution: request.resolution?.toLowerCase() },
    negative_prompt: { negativePrompt: request.negativePrompt },
  }
}

function fromSize(size: VideoSize, { forwardModelId, seconds }: VideoSubmit): JsonObject | undefined {
  const aspectRatio = ratioOfSize(size, RATIOS)
  const step = tierWordOf(size, isLite(forwardModelId) ? STEPS_LITE : STEPS)
  // The length is billed, so it is kept; a resolution that was only derived is changed.
  const resolution = step === '720p' || seconds === VEO_DEFAULT_SECONDS ? step : undefined
  return aspectRatio === undefined && resolution === undefined ? undefined : { aspectRatio, resolution }
}

interface Pictures {
  readonly instance: JsonObject
  readonly places: Partial<Record<ClientField, JsonObject>>
  readonly dropped: readonly string[]
}

/** Frames and references exclude each other; a last frame needs a first one. */
function picturesOf(request: VideoRequest, model: ForwardModelId): Pictures {
  const { firstFrame, lastFrame, referenceImages } = request
  if (firstFrame !== undefined) {
    return {
      instance: {
        image: pictureOf(firstFrame),
        ...(lastFrame === undefined ? {} : { lastFrame: pictureOf(lastFrame) }),
      },
      places: { input_reference: {}, image_tail: {} },
      dropped: [],
    }
  }
  if (referenceImages.length === 0 || isLite(model)) return { instance: {}, places: {}, dropped: [] }
  const used = referenceImages.slice(0, REFERENCES_MAX)
  return {
    instance: {
      referenceImages: used.map((media) => ({ image: pictureOf(media), referenceType: 'asset' })),
    },
    places: { reference_images: {} },
    dropped: used.length < referenceImages.length ? ['reference_images'] : [],
  }
}

function pictureOf(media: VideoMedia): JsonObject {
  switch (media.kind) {
    case 'bytes':
      return { bytesBase64Encoded: encodeBase64Bytes(media.bytes), mimeType: media.mediaType.toLowerCase() }
    case 'url':
      return { gcsUri: media.url, mimeType: /\.png$/i.test(media.url) ? 'image/png' : 'image/jpeg' }
  }
}

function isLite(model: ForwardModelId): boolean {
  return model.includes('-lite')
}

export interface VeoOperation {
  /** How it is polled, by its name. */
  poll(name: string): HttpRequest
  readonly afterMs: number
  /** The result in a finished response; undefined: no video. */
  resultIn(response: JsonObject): VideoResult | undefined
}

export function readOperation(reply: VideoReply, context: VideoContext, operation: VeoOperation): VideoStep {
  const { body } = reply
  const name = textIn(objectAt(body)['name']) ?? textIn(context.state['name'])
  if (!isJsonObject(body) || name === undefined) return { kind: 'unreadable', detail: 'no operation' }
  const state = { name }
  if (isJsonObject(body['error'])) return failedStep(operationFailure(body['error'], body), state)
  if (body['done'] !== true) {
    const request = operation.poll(name)
    return { kind: 'poll', request, afterMs: operation.afterMs, status: 'in_progress', state }
  }
  const response = objectAt(body, 'response')
  const result = operation.resultIn(response)
  return result === undefined
    ? failedStep(withoutVideo(response, body), state)
    : { kind: 'done', result, state }
}

/** Finished without a result. With reasons it was filtered; without, it is Veo's failure and a retry may succeed. */
function withoutVideo(response: JsonObject, body: JsonValue): VideoFailure {
  const places = [objectAt(response, 'generateVideoResponse'), response]
  const reasons = places.flatMap(({ raiMediaFilteredReasons: found }) =>
    Array.isArray(found) ? found.filter((reason) => typeof reason === 'string') : [],
  )
  const filtered =
    reasons.length > 0 || places.some((place) => Number(place['raiMediaFilteredCount'] ?? 0) > 0)
  return {
    class: filtered ? 'moderation' : 'upstream',
    code: filtered ? 'media_filtered' : 'no_video',
    message: reasons.length > 0 ? reasons.join(' ') : 'the upstream finished without a video',
    body,
  }
}

/** Codes of google.rpc, as found in operations. */
const RPC_CODES: Readonly<Record<string, readonly [VideoFailure['class'], string]>> = {
  '1': ['cancelled', 'CANCELLED'],
  '3': ['invalid', 'INVALID_ARGUMENT'],
  '5': ['invalid', 'NOT_FOUND'],
  '7': ['auth', 'PERMISSION_DENIED'],
  '8': ['rate', 'RESOURCE_EXHAUSTED'],
  '9': ['invalid', 'FAILED_PRECONDITION'],
  '11': ['invalid', 'OUT_OF_RANGE'],
  '16': ['auth', 'UNAUTHENTICATED'],
}

function operationFailure(error: JsonObject, body: JsonValue): VideoFailure {
  const number = textIn(error['code']) ?? ''
  const [kind, word] = rowOf(RPC_CODES, number) ?? ['upstream' as const, number]
  return {
    class: kind,
    code: textIn(error['status']) ?? (word === '' ? 'failed' : word),
    message: textIn(error['message']) ?? '',
    body,
  }
}

/** The first sample of a list that has the requested value. */
export function firstOf<Found>(
  samples: JsonValue | undefined,
  find: (sample: JsonObject) => Found | undefined,
): Found | undefined {
  for (const sample of objectsIn(samples)) {
    const found = find(sample)
    if (found !== undefined) return found
  }
  return undefined
}
