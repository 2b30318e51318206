/** Videos without a network: an order, a few polls with progress, then a short MP4 that plays. */
import { isJsonObject, type JsonObject } from '../../../core/json.ts'
import { classifyFailure } from '../../../core/routing/failure.ts'
import type { VideoMedia } from '../../../core/video/request.ts'
import { below } from '../../provider.ts'
import type {
  VideoContext,
  VideoDialect,
  VideoFailure,
  VideoReply,
  VideoStep,
  VideoSubmission,
  VideoSubmit,
} from '../../video.ts'
import { getJson, numberIn, objectAt, postJson, textIn } from '../../video-forms/json.ts'
import { type ClientField, placeFields } from '../../video-forms/place.ts'
import { secondsValue } from '../../video-forms/seconds.ts'
import { respondVideo } from './respond-video.ts'
import { USUAL_SECONDS } from './video-picture.ts'

export const sandboxVideo: VideoDialect = {
  auth: { kind: 'none' },
  imageForms: ['url', 'bytes'],
  defaultSeconds: () => USUAL_SECONDS,
  submit,
  accepted: (reply, context) => step(reply, { ...context, state: { ...context.state, poll: 0 } }),
  step,
  classify: (failure) => classifyFailure(failure),
  respond: (request, context) => respondVideo(request, context.taskId),
}

function submit(input: VideoSubmit): VideoSubmission {
  const { baseUrl, forwardModelId, request } = input
  const { members, dropped } = placeFields(request, { members: placesOf(input) })
  const body = { model: forwardModelId, prompt: request.prompt, ...members }
  return { request: postJson(below(baseUrl, '/videos'), body), state: {}, dropped }
}

function placesOf(input: VideoSubmit): Partial<Record<ClientField, JsonObject | undefined>> {
  const { request } = input
  const { size, referenceImages } = request
  return {
    seconds: { seconds: secondsValue(input) },
    size: { size: size === undefined ? undefined : { ...size } },
    ratio: { ratio: request.ratio },
    resolution: { resolution: request.resolution },
    input_reference: { input_reference: described(request.firstFrame) },
    image_tail: { image_tail: described(request.lastFrame) },
    reference_images: {
      reference_images: referenceImages.length === 0 ? undefined : referenceImages.map(describedOne),
    },
    negative_prompt: { negative_prompt: request.negativePrompt },
    generate_audio: { generate_audio: request.generateAudio },
    seed: { seed: request.seed },
    watermark: { watermark: request.watermark },
    prompt_extend: { prompt_extend: request.promptExtend },
  }
}

function described(image: VideoMedia | undefined): JsonObject | undefined {
  return image === undefined ? undefined : describedOne(image)
}

/** The sandbox ignores images, so they are not sent to it. */
function describedOne(image: VideoMedia): JsonObject {
  return image.kind === 'url'
    ? { url: image.url }
    : { media_type: image.mediaType, bytes: image.bytes.byteLength }
}

const EVERY_MS = 500

function step(reply: VideoReply, context: VideoContext): VideoStep {
  const { body } = reply
  if (!isJsonObject(body)) return { kind: 'unreadable', detail: 'the answer is not a JSON object' }
  const id = textIn(body['id']) ?? textIn(context.state['id'])
  if (id === undefined) return { kind: 'unreadable', detail: 'the answer names no video' }
  const asked = (numberIn(context.state['poll']) ?? 0) + 1
  const state = { id, poll: asked }
  const status = body['status']
  if (status === 'failed') return { kind: 'failed', failure: failureOf(body), state }
  if (status === 'completed') return done(body, state)
  return {
    kind: 'poll',
    request: getJson(below(context.baseUrl, `/videos/${id}?poll=${asked}`)),
    afterMs: numberIn(body['poll_after_ms']) ?? EVERY_MS,
    status: status === 'queued' ? 'queued' : 'in_progress',
    progress: numberIn(body['progress']),
    state,
  }
}

function done(body: JsonObject, state: JsonObject): VideoStep {
  const url = textIn(body['url'])
  const data = textIn(body['data'])
  const told = { secondsProduced: numberIn(body['seconds']), size: textIn(body['size']), state }
  if (url !== undefined) {
    const result = { kind: 'link', url, lastsMs: numberIn(body['lasts_ms']) ?? 0 } as const
    return { kind: 'done', result, ...told }
  }
  if (data === undefined) return { kind: 'unreadable', detail: 'a finished video without link or bytes' }
  const mediaType = textIn(body['media_type']) ?? 'video/mp4'
  return { kind: 'done', result: { kind: 'base64', data, mediaType }, ...told }
}

const CLASSES: Readonly<Record<string, VideoFailure['class']>> = {
  moderation_blocked: 'moderation',
  invalid_input: 'invalid',
  insufficient_quota: 'quota',
  expired: 'expired',
  cancelled: 'cancelled',
}

function failureOf(body: JsonObject): VideoFailure {
  const error = objectAt(body, 'error')
  const code = textIn(error['code']) ?? 'unknown'
  return {
    class: CLASSES[code] ?? 'upstream',
    code,
    message: textIn(error['message']) ?? 'the video failed',
    body,
  }
}
