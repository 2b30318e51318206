/** CogVideoX: an order, then polls by its id. */
import type { JsonObject } from '../../core/json.ts'
import { classifyFailure } from '../../core/routing/failure.ts'
import type { VideoRequest } from '../../core/video/request.ts'
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
import { failedStep } from '../video-forms/failure.ts'
import { getJson, linkIn, objectAt, objectsIn, postJson, textIn } from '../video-forms/json.ts'
import { addressOf } from '../video-forms/media.ts'
import { type ClientField, placeFields } from '../video-forms/place.ts'
import { stepOf, taskWord } from '../video-forms/progress.ts'
import { secondsValue } from '../video-forms/seconds.ts'
import { pixelPlaces, pixelsOf } from '../video-forms/shape.ts'
import { failureOf } from '../video-forms/vendor-failure.ts'
import { WORDS } from './failure-words.ts'

const POLL_MS = 7_000
/** The lifetime of links is not documented. */
const LINK_MS = 3_600_000

const SIZES: readonly string[] = [
  '1280x720',
  '720x1280',
  '1024x1024',
  '1920x1080',
  '1080x1920',
  '2048x1080',
  '3840x2160',
]

export const zhipuVideo: VideoDialect = {
  auth: { kind: 'bearer' },
  imageForms: ['url', 'bytes'],
  defaultSeconds: () => 5,
  submit,
  accepted: read,
  step: read,
  classify: (failure) => classifyFailure(failure, WORDS),
}

function submit(input: VideoSubmit): VideoSubmission {
  const { baseUrl, forwardModelId, request, taskId } = input
  const { members, dropped } = placeFields(request, { members: placesOf(input), reserved: ['request_id'] })
  return {
    request: postJson(below(baseUrl, '/videos/generations'), {
      model: forwardModelId,
      prompt: request.prompt,
      ...members,
      request_id: taskId,
    }),
    state: {},
    dropped,
  }
}

function placesOf(input: VideoSubmit): Partial<Record<ClientField, JsonObject | undefined>> {
  const { forwardModelId, request } = input
  const { firstFrame } = request
  return {
    ...pixelPlaces('size', pixelsOf(request, SIZES)),
    seconds: {},
    // Models before 3 have one length and may refuse the field.
    ...(request.seconds !== undefined || forwardModelId.startsWith('cogvideox-3')
      ? { seconds: { duration: secondsValue(input) } }
      : {}),
    input_reference: { image_url: pictures(request) },
    // The last frame is the second of two images, so it needs a first one.
    image_tail: firstFrame === undefined ? undefined : {},
    generate_audio: { with_audio: request.generateAudio },
    watermark: { watermark_enabled: request.watermark },
  }
}

function pictures({ firstFrame, lastFrame }: VideoRequest): string | readonly string[] | undefined {
  if (firstFrame === undefined) return undefined
  const first = addressOf(firstFrame)
  return lastFrame === undefined ? first : [first, addressOf(lastFrame)]
}

function read(reply: VideoReply, context: VideoContext): VideoStep {
  const body = objectAt(reply.body)
  const id = textIn(context.state['id']) ?? textIn(body['id'])
  const failure = failureIn(reply)
  if (id === undefined) {
    if (failure !== undefined) return failedStep(failure, context.state)
    return { kind: 'unreadable', detail: 'an answer without a task id' }
  }
  const url = objectsIn(body['video_result'])
    .map((entry) => linkIn(entry['url']))
    .find((link) => link !== undefined)
  // The poll was refused, not the task.
  const busy = failure?.class === 'rate' && context.state['id'] !== undefined
  return stepOf({
    word: busy ? 'processing' : body['task_status'],
    result: url === undefined ? undefined : { kind: 'link', url, lastsMs: LINK_MS },
    failure,
    poll: getJson(below(context.baseUrl, `/async-result/${encodeURIComponent(id)}`)),
    afterMs: POLL_MS,
    state: { id },
  })
}

/** A failed task gives no reason, but sometimes the filter that stopped it. */
function failureIn({ body }: VideoReply): VideoFailure | undefined {
  const top = objectAt(body)
  const error = objectAt(top, 'error')
  const code = textIn(error['code'])
  const message = textIn(error['message']) ?? textIn(top['message'])
  if (code !== undefined) return failureOf({ code, message, body, words: WORDS })
  if (taskWord(top['task_status']) !== 'failed') return undefined
  const filtered = objectsIn(top['content_filter']).length > 0
  return {
    class: filtered ? 'moderation' : 'upstream',
    code: filtered ? 'content_filter' : 'FAIL',
    message:
      message ?? (filtered ? 'stopped by the content filter' : 'the task failed upstream, without a reason'),
    body,
  }
}
