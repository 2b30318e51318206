/** Jimeng: both calls are POSTs to one address, distinguished by an action; failures come as 200 with a code. */
import type { HttpRequest } from '../../core/http-request.ts'
import type { JsonObject } from '../../core/json.ts'
import { encodeBase64Bytes } from '../../core/canonical/media/base64.ts'
import type { VideoMedia, VideoRequest } from '../../core/video/request.ts'
import { ratioOfSize } from '../../core/video/size.ts'
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
import { linkIn, objectAt, postJson, textIn } from '../video-forms/json.ts'
import { type ClientField, placeFields } from '../video-forms/place.ts'
import { stepOf } from '../video-forms/progress.ts'
import { failureOf } from '../video-forms/vendor-failure.ts'
import { AUTH, type Action, actionUrl } from './action.ts'
import { ACCEPTED, classify, codeIn, messageIn, WORDS } from './failures.ts'
import { hasKeyFor, type RequestKey, requestKeyFor } from './request-key.ts'

const POLL_MS = 5_000
const LINK_MS = 3_600_000
/** Internal errors, of the poll or of the task; polling again decides which. */
const ILL: readonly string[] = ['50500', '50501']

export const jimengVideo: VideoDialect = {
  auth: AUTH,
  // Addresses work too, but not together with bytes in one request, and the vendor is far from most hosts.
  imageForms: ['bytes'],
  defaultSeconds: () => 5,
  submit,
  accepted: read,
  step: read,
  classify,
  verdict,
}

function submit(input: VideoSubmit): VideoSubmission {
  const { baseUrl, forwardModelId, request } = input
  const chosen = requestKeyFor(forwardModelId, request)
  const { members, dropped } = placeFields(request, {
    members: placesOf(input, chosen),
    reserved: ['req_key', 'frames', 'image_urls', 'binary_data_base64'],
  })
  return {
    request: actionRequest(baseUrl, 'CVSync2AsyncSubmitTask', {
      req_key: chosen.key,
      prompt: request.prompt,
      ...picturesOf(request, chosen),
      ...members,
    }),
    state: { key: chosen.key },
    dropped,
  }
}

const RATIOS: readonly string[] = ['16:9', '4:3', '1:1', '3:4', '9:16', '21:9']

function placesOf(
  { forwardModelId, request, seconds }: VideoSubmit,
  { frames }: RequestKey,
): Partial<Record<ClientField, JsonObject | undefined>> {
  const { size, ratio, resolution } = request
  const derived = size === undefined || frames !== 'none' ? undefined : ratioOfSize(size, RATIOS)
  return {
    seconds: framesPlace(seconds),
    // A size also chooses the key, so it is not dropped even if the ratio follows the image.
    size: { aspect_ratio: derived },
    ratio: frames === 'none' ? { aspect_ratio: ratio } : undefined,
    resolution: resolution !== undefined && hasKeyFor(forwardModelId, resolution) ? {} : undefined,
    input_reference: frames === 'none' ? undefined : {},
    image_tail: frames === 'both' ? {} : undefined,
    seed: { seed: request.seed },
  }
}

/**
 * Lengths are counted in frames, and two are possible. Any other cannot be expressed, so the vendor uses its default.
 */
function framesPlace(seconds: number | undefined): JsonObject | undefined {
  if (seconds === 5) return { frames: 121 }
  return seconds === 10 ? { frames: 241 } : undefined
}

function picturesOf({ firstFrame, lastFrame }: VideoRequest, { frames }: RequestKey): JsonObject {
  const pictures = [
    frames === 'none' ? undefined : firstFrame,
    frames === 'both' ? lastFrame : undefined,
  ].flatMap((media) => (media === undefined ? [] : [media]))
  if (pictures.length === 0) return {}
  const addresses = pictures.flatMap((media) => (media.kind === 'url' ? [media.url] : []))
  return addresses.length > 0 ? { image_urls: addresses } : { binary_data_base64: pictures.flatMap(bare) }
}

function bare(media: VideoMedia): readonly string[] {
  return media.kind === 'bytes' ? [encodeBase64Bytes(media.bytes)] : []
}

function actionRequest(baseUrl: string, action: Action, body: JsonObject): HttpRequest {
  return postJson(actionUrl(baseUrl, action), body)
}

function read(reply: VideoReply, context: VideoContext): VideoStep {
  const body = objectAt(reply.body)
  const data = objectAt(body, 'data')
  const key = textIn(context.state['key']) ?? context.forwardModelId
  const id = textIn(context.state['id']) ?? textIn(data['task_id'])
  const failure = failureIn(reply)
  const asked = context.state['id'] !== undefined
  // The poll was refused, not the task.
  const busy = asked && failure?.class === 'rate'
  if (asked && ILL.includes(failure?.code ?? ''))
    return { kind: 'unreadable', detail: 'an internal error upstream' }
  // A code decides, whatever the status says.
  if (failure !== undefined && !busy) return failedStep(failure, id === undefined ? { key } : { key, id })
  if (id === undefined) return { kind: 'unreadable', detail: 'an answer without a task id' }
  const url = linkIn(data['video_url'])
  return stepOf({
    // The answer to the creation has only the id.
    word: busy ? 'generating' : (data['status'] ?? (textIn(data['task_id']) === id ? 'in_queue' : undefined)),
    result: url === undefined ? undefined : { kind: 'link', url, lastsMs: LINK_MS },
    failure: undefined,
    poll: actionRequest(context.baseUrl, 'CVSync2AsyncGetResult', { req_key: key, task_id: id }),
    afterMs: POLL_MS,
    state: { key, id },
  })
}

function failureIn({ body }: VideoReply): VideoFailure | undefined {
  const code = codeIn(body)
  if (code === undefined || code === ACCEPTED) return undefined
  return failureOf({ code, message: messageIn(body), body, words: WORDS })
}

/** The same codes as inside a 200, sometimes with another status. Only refused content is certainly about the task. */
function verdict(reply: VideoReply, context: VideoContext): VideoStep | undefined {
  const failure = failureIn(reply)
  return failure?.class === 'moderation' ? failedStep(failure, context.state) : undefined
}
