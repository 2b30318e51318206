/** The second generation: the model in the path, inputs as a list, lengths as numbers, one poll for all tasks. */
import type { HttpRequest } from '../../core/http-request.ts'
import type { ForwardModelId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import type { VideoRequest } from '../../core/video/request.ts'
import type { TierWords } from '../../core/video/size.ts'
import { below } from '../provider.ts'
import type { VideoContext, VideoSubmission, VideoSubmit } from '../video.ts'
import { getJson, postJson } from '../video-forms/json.ts'
import { addressOrBase64 } from '../video-forms/media.ts'
import { type ClientField, merged, placeFields } from '../video-forms/place.ts'
import { secondsValue } from '../video-forms/seconds.ts'
import { hasSound, isOmni, picturesMax, ratioFor, stepFor } from './settings.ts'

const RESERVED = ['external_task_id', 'external_id']

/** `kling-2.6`, `kling-3.0-turbo`; the first generation writes a `v` before its number. */
export function isPathModel(model: ForwardModelId): boolean {
  return /^kling-\d/.test(model)
}

export function submitPathModel(submit: VideoSubmit, defaultSeconds: number): VideoSubmission {
  const { baseUrl, forwardModelId, request, taskId } = submit
  const inputs = inputsOf(request, forwardModelId)
  const framed = request.firstFrame !== undefined
  const { members, dropped } = placeFields(request, {
    members: {
      seconds: { duration: secondsValue(submit) ?? defaultSeconds },
      size: {
        aspect_ratio: framed ? undefined : ratioFor(request),
        resolution: stepFor(request, forwardModelId, stepsOf(forwardModelId)),
      },
      ratio: framed ? undefined : { aspect_ratio: request.ratio },
      resolution: { resolution: request.resolution?.toLowerCase() },
      generate_audio: hasSound(forwardModelId) ? { audio: audioOf(request) } : undefined,
      watermark: {},
      ...inputs.places,
    },
    reserved: RESERVED,
  })
  const watermark = request.watermark === undefined ? undefined : { enabled: request.watermark }
  const body: JsonObject = {
    ...(inputs.kind === 'text-to-video'
      ? { prompt: request.prompt }
      : { contents: [{ type: 'prompt', text: request.prompt }, ...inputs.contents] }),
    settings: members,
    options: merged([{ external_task_id: taskId, watermark_info: watermark }]),
  }
  const model = encodeURIComponent(forwardModelId)
  return {
    request: postJson(below(baseUrl, `/${inputs.kind}/${model}`), body),
    state: {},
    dropped: [...dropped, ...inputs.dropped],
  }
}

/** By the vendor's ids or by the gateway's. */
export function pathModelTask(
  { baseUrl }: VideoContext,
  by: 'task_ids' | 'external_task_ids',
  id: string,
): HttpRequest {
  return getJson(below(baseUrl, `/tasks?${by}=${encodeURIComponent(id)}`))
}

interface Inputs {
  readonly kind: 'text-to-video' | 'image-to-video' | 'omni-video'
  readonly contents: readonly JsonObject[]
  readonly places: Partial<Record<ClientField, JsonObject>>
  readonly dropped: readonly string[]
}

function inputsOf(request: VideoRequest, model: ForwardModelId): Inputs {
  const { firstFrame } = request
  // Turbo accepts one image.
  const lastFrame = firstFrame === undefined || model.includes('turbo') ? undefined : request.lastFrame
  const frames: readonly JsonObject[] = [
    ...(firstFrame === undefined ? [] : [{ type: 'first_frame', url: addressOrBase64(firstFrame) }]),
    ...(lastFrame === undefined ? [] : [{ type: 'last_frame', url: addressOrBase64(lastFrame) }]),
  ]
  const places = {
    ...(firstFrame === undefined ? {} : { input_reference: {} }),
    ...(lastFrame === undefined ? {} : { image_tail: {} }),
  }
  if (isOmni(model)) return withReferences(request, frames, places)
  return {
    kind: frames.length > 0 ? 'image-to-video' : 'text-to-video',
    contents: frames,
    places,
    dropped: [],
  }
}

function withReferences(
  request: VideoRequest,
  frames: readonly JsonObject[],
  places: Inputs['places'],
): Inputs {
  const { referenceImages, referenceVideos } = request
  // Both frames exclude references.
  const room = frames.length > 1 ? 0 : picturesMax(request) - frames.length
  const images = referenceImages.slice(0, room)
  const videos = referenceVideos.slice(0, 1)
  return {
    kind: 'omni-video',
    contents: [
      ...frames,
      ...images.map((media) => ({ type: 'refer_image', url: addressOrBase64(media) })),
      ...videos.map((url) => ({ type: 'feature_video', url })),
    ],
    places: { ...places, ...(room > 0 ? { reference_images: {} } : {}), reference_videos: {} },
    dropped: [
      ...(room > 0 && images.length < referenceImages.length ? ['reference_images'] : []),
      ...(videos.length < referenceVideos.length ? ['reference_videos'] : []),
    ],
  }
}

function stepsOf(model: ForwardModelId): TierWords {
  const full = { '720p': '720p', '1080p': '1080p' }
  return /^kling-[3-9]/.test(model) && !model.includes('turbo') ? { ...full, '4k': '4k' } : full
}

function audioOf({ generateAudio }: VideoRequest): string | undefined {
  return generateAudio === undefined ? undefined : generateAudio ? 'native' : 'off'
}
