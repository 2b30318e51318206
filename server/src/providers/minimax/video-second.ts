/** `/v2/video_generation`: a list of inputs by role, a ratio that is required for text and forbidden with frames. */
import type { HttpRequest } from '../../core/http-request.ts'
import type { JsonObject, JsonValue } from '../../core/json.ts'
import type { VideoRequest } from '../../core/video/request.ts'
import { ratioOfSize, type TierWords, tierWordOf } from '../../core/video/size.ts'
import type {
  VideoContext,
  VideoFailure,
  VideoReply,
  VideoStep,
  VideoSubmission,
  VideoSubmit,
} from '../video.ts'
import { type Content, contentItems } from '../video-forms/content-items.ts'
import { taskClassOf } from '../video-forms/failure.ts'
import { getJson, linkIn, numberIn, objectAt, postJson, textIn } from '../video-forms/json.ts'
import { placeFields } from '../video-forms/place.ts'
import { stepOf } from '../video-forms/progress.ts'
import { secondsValue } from '../video-forms/seconds.ts'
import { videoAddress } from './address.ts'
import { kindOfCode } from './failures.ts'

const POLL_MS = 10_000
/** Not published; an hour is assumed, so that the video is stored. */
const LINK_MS = 3_600_000

const RATIOS = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16']
const STEPS: TierWords = { '720p': '768P', '2k': '2K' }
const LIMITS = { imagesMax: 9, videosMax: 3, audiosMax: 3, audiosAlone: false }

export function submitSecond(submit: VideoSubmit, defaultSeconds: number): VideoSubmission {
  const { baseUrl, forwardModelId, request } = submit
  const content = contentItems(request, LIMITS)
  const { members, dropped } = placeFields(request, {
    members: {
      seconds: { duration: secondsValue(submit) ?? defaultSeconds },
      size: {
        ratio: derivedRatio(request, content),
        resolution: request.size === undefined ? undefined : tierWordOf(request.size, STEPS),
      },
      ratio: content.kind === 'frames' ? undefined : { ratio: request.ratio },
      resolution: { resolution: request.resolution?.toUpperCase() },
      watermark: { aigc_watermark: request.watermark },
      ...content.places,
    },
    reserved: ['content'],
  })
  const body: JsonObject = { model: forwardModelId, content: content.items, ...members }
  return {
    request: postJson(videoAddress(baseUrl, 'v2', '/video_generation'), body),
    state: {},
    dropped: [...dropped, ...content.dropped],
  }
}

/** Text alone is refused without a ratio. */
function derivedRatio({ size }: VideoRequest, content: Content): string | undefined {
  const ratio = size === undefined ? undefined : ratioOfSize(size, RATIOS)
  switch (content.kind) {
    case 'frames':
      return undefined
    case 'references':
      return ratio
    case 'text':
      return ratio ?? '16:9'
  }
}

export function readSecond(reply: VideoReply, context: VideoContext): VideoStep {
  const task = objectAt(reply.body, 'task')
  const id = textIn(context.state['id']) ?? textIn(objectAt(reply.body)['task_id']) ?? textIn(task['id'])
  if (id === undefined) return { kind: 'unreadable', detail: 'an answer without a task id' }
  const content = objectAt(task, 'content')
  const url = linkIn(content['url']) ?? linkIn(content['video_url'])
  return stepOf({
    // The answer to a create call is the id alone.
    word: task['status'] ?? (context.state['id'] === undefined ? 'queued' : undefined),
    result: url === undefined ? undefined : { kind: 'link', url, lastsMs: LINK_MS },
    failure: failureIn(task['error'], reply.body),
    poll: taskRequest(context, id),
    afterMs: POLL_MS,
    secondsProduced: numberIn(objectAt(task, 'usage')['output_seconds']),
    state: { id },
  })
}

function taskRequest({ baseUrl }: VideoContext, id: string): HttpRequest {
  return getJson(videoAddress(baseUrl, 'v2', `/query/video_generation/${encodeURIComponent(id)}`))
}

function failureIn(error: JsonValue | undefined, body: JsonValue | undefined): VideoFailure | undefined {
  const { code, message } = objectAt(error)
  const number = numberIn(code)
  if (number === undefined && textIn(message) === undefined) return undefined
  return {
    class: taskClassOf(kindOfCode(number) ?? 'overloaded'),
    code: textIn(code) ?? 'failed',
    message: textIn(message) ?? '',
    body,
  }
}
