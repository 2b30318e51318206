/** The first generation: one path for each kind of input, the model in the body, lengths as text. */
import type { HttpRequest } from '../../core/http-request.ts'
import type { ForwardModelId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import type { VideoRequest } from '../../core/video/request.ts'
import { type TierWords, tierOfResolution } from '../../core/video/size.ts'
import { below } from '../provider.ts'
import type { VideoContext, VideoSubmission, VideoSubmit } from '../video.ts'
import { getJson, postJson, textIn } from '../video-forms/json.ts'
import { addressOrBase64 } from '../video-forms/media.ts'
import { type ClientField, placeFields } from '../video-forms/place.ts'
import { secondsText } from '../video-forms/seconds.ts'
import { hasSound, isOmni, picturesMax, ratioFor, stepFor } from './settings.ts'

type Path = 'text2video' | 'image2video' | 'multi-image2video' | 'omni-video'

const MULTI_IMAGES_MAX = 4
const RESERVED = ['model_name', 'external_task_id']

export function submitBodyModel(submit: VideoSubmit, defaultSeconds: number): VideoSubmission {
  const { baseUrl, forwardModelId, request, taskId } = submit
  const path = pathOf(request, forwardModelId)
  const inputs = inputsOf(path, request)
  const mode = explicitMode(request)
  const framed = path === 'image2video' || (path === 'omni-video' && request.firstFrame !== undefined)
  const { members, dropped } = placeFields(request, {
    members: {
      seconds: { duration: secondsText(submit) ?? String(defaultSeconds) },
      size: {
        aspect_ratio: framed ? undefined : (ratioFor(request) ?? ratioWithout(path)),
        mode: stepFor(request, forwardModelId, stepsOf(forwardModelId)),
      },
      // With a frame, the image's own ratio counts.
      ratio: framed ? undefined : { aspect_ratio: request.ratio },
      resolution: mode === undefined ? undefined : { mode },
      negative_prompt: { negative_prompt: request.negativePrompt },
      generate_audio: hasSound(forwardModelId) ? { sound: soundOf(request) } : undefined,
      watermark: request.watermark === undefined ? {} : { watermark_info: { enabled: request.watermark } },
      ...inputs.places,
    },
    reserved: RESERVED,
  })
  const body: JsonObject = {
    model_name: forwardModelId,
    prompt: request.prompt,
    ...inputs.body,
    ...members,
    external_task_id: taskId,
  }
  return {
    request: postJson(below(baseUrl, `/v1/videos/${path}`), body),
    state: { path },
    dropped: [...dropped, ...inputs.dropped],
  }
}

/** By the vendor's id or by the gateway's. */
export function bodyModelTask({ baseUrl, state }: VideoContext, id: string): HttpRequest {
  const path = textIn(state['path']) ?? 'text2video'
  return getJson(below(baseUrl, `/v1/videos/${path}/${encodeURIComponent(id)}`))
}

function pathOf(request: VideoRequest, model: ForwardModelId): Path {
  if (isOmni(model)) return 'omni-video'
  if (request.firstFrame !== undefined || request.lastFrame !== undefined) return 'image2video'
  return request.referenceImages.length > 0 && model.includes('v1-6') ? 'multi-image2video' : 'text2video'
}

interface Inputs {
  readonly body: JsonObject
  readonly places: Partial<Record<ClientField, JsonObject>>
  readonly dropped: readonly string[]
}

function inputsOf(path: Path, request: VideoRequest): Inputs {
  switch (path) {
    case 'text2video':
      return { body: {}, places: {}, dropped: [] }
    case 'image2video':
      return framesOf(request)
    case 'multi-image2video': {
      const used = request.referenceImages.slice(0, MULTI_IMAGES_MAX)
      return {
        body: { image_list: used.map((media) => ({ image: addressOrBase64(media) })) },
        places: { reference_images: {} },
        dropped: used.length < request.referenceImages.length ? ['reference_images'] : [],
      }
    }
    case 'omni-video':
      return omniInputsOf(request)
  }
}

/** A last frame is allowed alone. */
function framesOf({ firstFrame, lastFrame }: VideoRequest): Inputs {
  return {
    body: {
      ...(firstFrame === undefined ? {} : { image: addressOrBase64(firstFrame) }),
      ...(lastFrame === undefined ? {} : { image_tail: addressOrBase64(lastFrame) }),
    },
    places: { input_reference: {}, image_tail: {} },
    dropped: [],
  }
}

/** A last frame needs a first one and excludes references. */
function omniInputsOf(request: VideoRequest): Inputs {
  const { firstFrame, referenceImages, referenceVideos } = request
  const lastFrame = firstFrame === undefined ? undefined : request.lastFrame
  const room = lastFrame === undefined ? picturesMax(request) - (firstFrame === undefined ? 0 : 1) : 0
  const references = referenceImages.slice(0, room)
  const images: readonly JsonObject[] = [
    ...(firstFrame === undefined ? [] : [{ image_url: addressOrBase64(firstFrame), type: 'first_frame' }]),
    ...(lastFrame === undefined ? [] : [{ image_url: addressOrBase64(lastFrame), type: 'end_frame' }]),
    ...references.map((media) => ({ image_url: addressOrBase64(media) })),
  ]
  const [video] = referenceVideos
  return {
    body: {
      ...(images.length > 0 ? { image_list: images } : {}),
      ...(video === undefined
        ? {}
        : { video_list: [{ video_url: video, refer_type: 'feature', keep_original_sound: 'no' }] }),
    },
    places: {
      input_reference: {},
      ...(lastFrame === undefined ? {} : { image_tail: {} }),
      ...(room > 0 ? { reference_images: {} } : {}),
      reference_videos: {},
    },
    dropped: [
      ...(room > 0 && references.length < referenceImages.length ? ['reference_images'] : []),
      ...(referenceVideos.length > 1 ? ['reference_videos'] : []),
    ],
  }
}

const MODES: Readonly<Record<string, string>> = { '720p': 'std', '1080p': 'pro', '4k': '4k' }

/** An explicit resolution, also in the vendor's own notation; undefined: the vendor does not have it. */
function explicitMode({ resolution }: VideoRequest): string | undefined {
  if (resolution === undefined) return undefined
  const tier = tierOfResolution(resolution)
  return tier === undefined ? resolution.toLowerCase() : MODES[tier]
}

/** Omni models refuse text and references without a ratio; the others have a default. */
function ratioWithout(path: Path): string | undefined {
  return path === 'omni-video' ? '16:9' : undefined
}

function stepsOf(model: ForwardModelId): TierWords {
  return /kling-v[3-9]/.test(model)
    ? { '720p': 'std', '1080p': 'pro', '4k': '4k' }
    : { '720p': 'std', '1080p': 'pro' }
}

function soundOf({ generateAudio }: VideoRequest): string | undefined {
  return generateAudio === undefined ? undefined : generateAudio ? 'on' : 'off'
}
