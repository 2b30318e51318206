/** `/v1/video_generation`: a prompt, at most two frames, a length and a resolution. The ratio follows the image. */
import type { HttpRequest } from '../../core/http-request.ts'
import type { ForwardModelId } from '../../core/ids.ts'
import { isJsonObject, type JsonObject } from '../../core/json.ts'
import type { VideoRequest } from '../../core/video/request.ts'
import { type TierWords, tierWordOf } from '../../core/video/size.ts'
import type {
  VideoContext,
  VideoFailure,
  VideoReply,
  VideoStep,
  VideoSubmission,
  VideoSubmit,
} from '../video.ts'
import { failedStep, taskClassOf } from '../video-forms/failure.ts'
import { getJson, linkIn, numberIn, objectAt, postJson, textIn } from '../video-forms/json.ts'
import { addressOf } from '../video-forms/media.ts'
import { type ClientField, placeFields } from '../video-forms/place.ts'
import { stepOf, taskWord } from '../video-forms/progress.ts'
import { secondsValue } from '../video-forms/seconds.ts'
import { videoAddress } from './address.ts'
import { codeIn, kindOfCode } from './failures.ts'

const POLL_MS = 10_000
const REFUSED_POLL_MS = 20_000
/** The file exists already; its link may be delayed a little. */
const FILE_MS = 2000
/** The lifetime of links is not published for video; for another product it is nine hours. */
const LINK_MS = 9 * 3_600_000

export function submitFirst(submit: VideoSubmit, defaultSeconds: number): VideoSubmission {
  const { baseUrl, forwardModelId, request } = submit
  const inputs = inputsOf(request, forwardModelId)
  const resolution = derivedResolution(submit, inputs)
  const { members, dropped } = placeFields(request, {
    members: {
      seconds: { duration: secondsValue(submit) ?? defaultSeconds },
      size: resolution === undefined ? undefined : { resolution },
      resolution: { resolution: request.resolution?.toUpperCase() },
      watermark: { aigc_watermark: request.watermark },
      prompt_extend: { prompt_optimizer: request.promptExtend },
      ...inputs.places,
    },
  })
  const body: JsonObject = { model: forwardModelId, prompt: request.prompt, ...inputs.body, ...members }
  return {
    request: postJson(videoAddress(baseUrl, 'v1', '/video_generation'), body),
    state: {},
    dropped: [...dropped, ...inputs.dropped],
  }
}

interface Inputs {
  readonly body: JsonObject
  readonly places: Partial<Record<ClientField, JsonObject>>
  readonly dropped: readonly string[]
}

function inputsOf(request: VideoRequest, model: ForwardModelId): Inputs {
  const { firstFrame, lastFrame, referenceImages } = request
  const [subject] = referenceImages
  if (model.startsWith('S2V-01') && subject !== undefined) {
    return {
      body: { subject_reference: [{ type: 'character', image: [addressOf(subject)] }] },
      places: { reference_images: {} },
      dropped: referenceImages.length > 1 ? ['reference_images'] : [],
    }
  }
  if (firstFrame === undefined) return { body: {}, places: {}, dropped: [] }
  const first = { first_frame_image: addressOf(firstFrame) }
  if (lastFrame === undefined || !isHailuo02(model)) {
    return { body: first, places: { input_reference: {} }, dropped: [] }
  }
  return {
    body: { ...first, last_frame_image: addressOf(lastFrame) },
    places: { input_reference: {}, image_tail: {} },
    dropped: [],
  }
}

/** The older models make 720p only. 512P needs a first frame, 1080P six seconds. */
function derivedResolution(
  { request, forwardModelId, seconds }: VideoSubmit,
  { places }: Inputs,
): string | undefined {
  if (request.size === undefined || /^(T2V|I2V|S2V)-01/.test(forwardModelId)) return undefined
  const firstFrameAlone = places.input_reference !== undefined && places.image_tail === undefined
  const words: TierWords = {
    '720p': '768P',
    ...(isHailuo02(forwardModelId) && firstFrameAlone ? { '480p': '512P' } : {}),
    ...(seconds !== undefined && seconds <= 6 ? { '1080p': '1080P' } : {}),
  }
  return tierWordOf(request.size, words)
}

function isHailuo02(model: ForwardModelId): boolean {
  return /hailuo-02/i.test(model)
}

/** undefined: there is no file yet. */
export function fileRequest({ baseUrl, state }: VideoContext): HttpRequest | undefined {
  const file = textIn(state['file'])
  return file === undefined
    ? undefined
    : getJson(videoAddress(baseUrl, 'v1', `/files/retrieve?file_id=${encodeURIComponent(file)}`))
}

/** The answers to the create call, to polls and to the request for the file; only the last contains a file. */
export function readFirst(reply: VideoReply, context: VideoContext, asked: 'create' | 'poll'): VideoStep {
  const task = objectAt(reply.body)
  if (isJsonObject(task['file'])) return readFile(task['file'], context)
  const refusal = refusalIn(reply)
  const failed = asked === 'create' || taskWord(task['status']) === 'failed'
  if (refusal !== undefined && failed) return failedStep(refusal, context.state)
  if (refusal !== undefined) return refusedPoll(refusal, context)
  const id = textIn(context.state['id']) ?? textIn(task['task_id'])
  if (id === undefined) return { kind: 'unreadable', detail: 'an answer without a task id' }
  if (asked === 'poll' && taskWord(task['status']) === 'done') return askForFile(task, id, context)
  return stepOf({
    word: asked === 'create' ? 'queued' : task['status'],
    result: undefined,
    failure: undefined,
    poll: taskRequest(context, id),
    afterMs: POLL_MS,
    state: { id },
  })
}

/** A refused poll says nothing about the task. */
function refusedPoll({ class: kind, code }: VideoFailure, context: VideoContext): VideoStep {
  const { state } = context
  const id = textIn(state['id'])
  if (id === undefined || (kind !== 'rate' && kind !== 'upstream')) {
    return { kind: 'unreadable', detail: `the poll was refused with code ${code}` }
  }
  const request = fileRequest(context) ?? taskRequest(context, id)
  return { kind: 'poll', request, afterMs: REFUSED_POLL_MS, status: 'in_progress', state }
}

function taskRequest({ baseUrl }: VideoContext, id: string): HttpRequest {
  const query = `/query/video_generation?task_id=${encodeURIComponent(id)}`
  return getJson(videoAddress(baseUrl, 'v1', query))
}

function askForFile(task: JsonObject, id: string, context: VideoContext): VideoStep {
  const file = textIn(task['file_id'])
  const [width, height] = [numberIn(task['video_width']), numberIn(task['video_height'])]
  const size = width === undefined || height === undefined ? {} : { size: `${width}x${height}` }
  const state = { id, ...(file === undefined ? {} : { file }), ...size }
  const request = fileRequest({ ...context, state })
  if (request === undefined) return { kind: 'unreadable', detail: 'finished, but without a file' }
  return { kind: 'poll', request, afterMs: FILE_MS, status: 'in_progress', state }
}

function readFile(file: JsonObject, { state }: VideoContext): VideoStep {
  const url = linkIn(file['download_url'])
  if (url === undefined) return { kind: 'unreadable', detail: 'a file without a link' }
  const result = { kind: 'link', url, lastsMs: LINK_MS } as const
  return { kind: 'done', result, size: textIn(state['size']), state }
}

function refusalIn({ body }: VideoReply): VideoFailure | undefined {
  const code = codeIn(body)
  if (code === undefined || code === 0) return undefined
  return {
    class: taskClassOf(kindOfCode(code) ?? 'overloaded'),
    code: Number.isNaN(code) ? 'unreadable' : String(code),
    message: textIn(objectAt(body, 'base_resp')['status_msg']) ?? '',
    body,
  }
}
