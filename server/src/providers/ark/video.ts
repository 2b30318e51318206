/** Seedance on Volcengine Ark and on BytePlus: one task resource, strict about every field. */
import type { HttpRequest } from '../../core/http-request.ts'
import type { ForwardModelId } from '../../core/ids.ts'
import type { JsonObject, JsonValue } from '../../core/json.ts'
import {
  classifyFailure,
  errorWords,
  type FailureClass,
  type UpstreamFailure,
} from '../../core/routing/failure.ts'
import type { VideoRequest } from '../../core/video/request.ts'
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
import { type Content, type ContentLimits, contentItems } from '../video-forms/content-items.ts'
import { taskClassOf } from '../video-forms/failure.ts'
import { getJson, linkIn, numberIn, objectAt, postJson, textIn } from '../video-forms/json.ts'
import { placeFields } from '../video-forms/place.ts'
import { stepOf } from '../video-forms/progress.ts'
import { secondsValue } from '../video-forms/seconds.ts'
import { pixelsOf } from './pixels.ts'
import { WORDS } from './words.ts'

const DEFAULT_SECONDS = 5
const POLL_MS = 10_000
const LINK_MS = 24 * 3_600_000

const RATIOS = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16']
/** `frames` is another way to state the length. */
const RESERVED = ['content', 'frames']

export const arkVideo: VideoDialect = {
  auth: { kind: 'bearer' },
  imageForms: ['url', 'bytes'],
  defaultSeconds: () => DEFAULT_SECONDS,
  submit,
  accepted: read,
  step: read,
  classify,
}

function submit(input: VideoSubmit): VideoSubmission {
  const { baseUrl, forwardModelId, request } = input
  const version = versionOf(forwardModelId)
  const content = contentItems(request, limitsOf(forwardModelId))
  const { members, dropped } = placeFields(request, {
    members: {
      seconds: { duration: secondsValue(input) ?? DEFAULT_SECONDS },
      size: fromSize(request, forwardModelId, content),
      ratio: { ratio: request.ratio },
      resolution: { resolution: request.resolution?.toLowerCase() },
      generate_audio: version === '1.0' ? undefined : { generate_audio: request.generateAudio },
      seed: version === '2' ? undefined : { seed: request.seed },
      watermark: { watermark: request.watermark },
      ...content.places,
    },
    reserved: RESERVED,
  })
  const body: JsonObject = { model: forwardModelId, content: content.items, ...members }
  return {
    request: postJson(below(baseUrl, '/contents/generations/tasks'), body),
    state: {},
    dropped: [...dropped, ...content.dropped],
  }
}

/** With a first frame the picture's own ratio counts, unless the client names one. */
function fromSize(request: VideoRequest, model: ForwardModelId, content: Content): JsonObject {
  const { size } = request
  const framed = content.kind === 'frames' ? 'adaptive' : undefined
  return {
    ratio: framed ?? (size === undefined ? undefined : ratioOfSize(size, RATIOS)),
    resolution: size === undefined ? undefined : tierWordOf(size, stepsOf(model)),
  }
}

/** An endpoint's own id (`ep-…`) does not name a model: the newest is assumed. */
function versionOf(model: ForwardModelId): '1.0' | '1.5' | '2' {
  if (/seedance-1-0|seedance-1\.0/.test(model)) return '1.0'
  return /seedance-1-5|seedance-1\.5/.test(model) ? '1.5' : '2'
}

function limitsOf(model: ForwardModelId): ContentLimits {
  if (versionOf(model) === '2') {
    return { imagesMax: 9, videosMax: 3, audiosMax: 3, audiosAlone: is25(model) }
  }
  return { imagesMax: model.includes('lite') ? 4 : 0, videosMax: 0, audiosMax: 0, audiosAlone: false }
}

/** Only the standard model of 2.0 goes up to 4k. */
function stepsOf(model: ForwardModelId): TierWords {
  const small = { '480p': '480p', '720p': '720p' }
  if (/seedance-2.*(fast|mini)/.test(model)) return small
  const full = { ...small, '1080p': '1080p' }
  return versionOf(model) === '2' && !is25(model) ? { ...full, '4k': '4k' } : full
}

function is25(model: ForwardModelId): boolean {
  return /seedance-2[-.]5/.test(model)
}

function read(reply: VideoReply, context: VideoContext): VideoStep {
  const task = objectAt(reply.body)
  const id = textIn(task['id']) ?? textIn(context.state['id'])
  if (id === undefined) return { kind: 'unreadable', detail: 'an answer without a task id' }
  const url = linkIn(objectAt(task, 'content')['video_url'])
  return stepOf({
    // The answer to a create call is the id alone.
    word: task['status'] ?? (context.state['id'] === undefined ? 'queued' : undefined),
    result: url === undefined ? undefined : { kind: 'link', url, lastsMs: LINK_MS },
    failure: failureIn(task['error'], reply.body),
    poll: taskRequest(context, id),
    afterMs: POLL_MS,
    secondsProduced: numberIn(task['duration']),
    size: pixelsOf({
      ratio: textIn(task['ratio']),
      resolution: textIn(task['resolution']),
      generation: versionOf(context.forwardModelId) === '1.0' ? 'first' : 'later',
    }),
    state: { id },
  })
}

function taskRequest({ baseUrl }: VideoContext, id: string): HttpRequest {
  return getJson(below(baseUrl, `/contents/generations/tasks/${encodeURIComponent(id)}`))
}

function failureIn(error: JsonValue | undefined, body: JsonValue | undefined): VideoFailure | undefined {
  const { code, message } = objectAt(error)
  const word = textIn(code)
  if (word === undefined && textIn(message) === undefined) return undefined
  const found = classify({ status: 200, headers: {}, body: { error: { code: word } } })
  return { class: taskClassOf(found.kind), code: word ?? 'failed', message: textIn(message) ?? '', body }
}

/** The video API answers `QuotaExceeded` when too many tasks are queued, which waiting resolves. */
const VIDEO_WORDS = {
  ...WORDS,
  quotaexceeded: 'rate-limited',
  modelloadingerror: 'overloaded',
  missingparameter: 'request',
  invalidparameter: 'request',
} as const

/** Content codes come in many kinds: text, image, video and audio, in and out, some with a reason after a dot. */
function classify(failure: UpstreamFailure): FailureClass {
  const sensitive = errorWords(failure.body).some((word) =>
    /sensitivecontentdetected|riskdetection/.test(word),
  )
  return sensitive ? { kind: 'refused-content' } : classifyFailure(failure, VIDEO_WORDS)
}
