/** Films without a network: an order, a few polls with progress, then a short MP4 that plays. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { classifyFailure } from '../../core/routing/failure.ts'
import type { VideoMedia } from '../../core/video/request.ts'
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
import { respondVideo } from './respond-video.ts'
import { USUAL_SECONDS } from './video-picture.ts'

export const sandboxVideo: VideoDialect = {
  auth: () => ({ kind: 'none' }),
  imageForms: ['url', 'bytes'],
  defaultSeconds: () => USUAL_SECONDS,
  submit,
  accepted: (reply, context) => step(reply, { ...context, state: { ...context.state, poll: 0 } }),
  step,
  classify: (failure) => classifyFailure(failure),
  respond: (request, context) => respondVideo(request, context.taskId),
}

function submit(input: VideoSubmit): VideoSubmission {
  const { request } = input
  const body: JsonObject = {
    ...request.extras,
    model: input.forwardModelId,
    prompt: request.prompt,
    seconds: input.seconds ?? request.seconds,
    size: request.size === undefined ? undefined : { ...request.size },
    ratio: request.ratio,
    resolution: request.resolution,
    input_reference: described(request.firstFrame),
    image_tail: described(request.lastFrame),
    reference_images: request.referenceImages.map((image) => described(image) ?? null),
    negative_prompt: request.negativePrompt,
    generate_audio: request.generateAudio,
    seed: request.seed,
    watermark: request.watermark,
    prompt_extend: request.promptExtend,
  }
  const dropped = [
    ...(request.referenceVideos.length > 0 ? ['reference_videos'] : []),
    ...(request.referenceAudios.length > 0 ? ['reference_audios'] : []),
  ]
  return {
    request: {
      method: 'POST',
      url: below(input.baseUrl, '/videos'),
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    },
    state: {},
    dropped,
  }
}

/** The sandbox looks at no image, so it is not made to carry one. */
function described(image: VideoMedia | undefined): JsonObject | undefined {
  if (image === undefined) return undefined
  return image.kind === 'url'
    ? { url: image.url }
    : { media_type: image.mediaType, bytes: image.bytes.byteLength }
}

const EVERY_MS = 500

function step(reply: VideoReply, context: VideoContext): VideoStep {
  const { body } = reply
  if (!isJsonObject(body)) return { kind: 'unreadable', detail: 'the answer is no JSON object' }
  const id = textOf(body['id']) ?? textOf(context.state['id'])
  if (id === undefined) return { kind: 'unreadable', detail: 'the answer names no film' }
  const asked = (numberOf(context.state['poll']) ?? 0) + 1
  const state = { id, poll: asked }
  const status = body['status']
  if (status === 'failed') return { kind: 'failed', failure: failureOf(body), state }
  if (status === 'completed') return done(body, state)
  return {
    kind: 'poll',
    request: { method: 'GET', url: below(context.baseUrl, `/videos/${id}?poll=${asked}`), headers: {} },
    afterMs: numberOf(body['poll_after_ms']) ?? EVERY_MS,
    status: status === 'queued' ? 'queued' : 'in_progress',
    progress: numberOf(body['progress']),
    state,
  }
}

function done(body: JsonObject, state: JsonObject): VideoStep {
  const url = textOf(body['url'])
  const data = textOf(body['data'])
  const told = { secondsProduced: numberOf(body['seconds']), size: textOf(body['size']), state }
  if (url !== undefined) {
    const result = { kind: 'link', url, lastsMs: numberOf(body['lasts_ms']) ?? 0 } as const
    return { kind: 'done', result, ...told }
  }
  if (data === undefined) return { kind: 'unreadable', detail: 'a finished film without link or bytes' }
  const mediaType = textOf(body['media_type']) ?? 'video/mp4'
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
  const error = isJsonObject(body['error']) ? body['error'] : {}
  const code = textOf(error['code']) ?? 'unknown'
  return {
    class: CLASSES[code] ?? 'upstream',
    code,
    message: textOf(error['message']) ?? 'the film failed',
    body,
  }
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function numberOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
