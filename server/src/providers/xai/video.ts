/** Grok Imagine: one call to order, one address to poll until it has finished. */
import type { JsonObject } from '../../core/json.ts'
import { classifyFailure, type FailureWords } from '../../core/routing/failure.ts'
import type { VideoMedia, VideoRequest } from '../../core/video/request.ts'
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
import { getJson, linkIn, numberIn, objectAt, postJson, textIn } from '../video-forms/json.ts'
import { addressOf } from '../video-forms/media.ts'
import { type ClientField, placeFields } from '../video-forms/place.ts'
import { stepOf } from '../video-forms/progress.ts'
import { secondsValue } from '../video-forms/seconds.ts'
import { type Shape, shapePlaces } from '../video-forms/shape.ts'
import { failureOf } from '../video-forms/vendor-failure.ts'

const POLL_MS = 5_000
/** The vendor only says "temporary". */
const LINK_MS = 3_600_000

const WORDS: FailureWords = { service_unavailable: 'overloaded', internal_error: 'overloaded' }

/** They would send the result to the client's own host, or keep it for ever in the operator's account. */
const RESERVED: readonly string[] = ['output', 'storage_options']

export const xaiVideo: VideoDialect = {
  auth: { kind: 'bearer' },
  imageForms: ['url', 'bytes'],
  defaultSeconds: () => 8,
  submit,
  accepted: read,
  step: read,
  classify: (failure) => classifyFailure(failure, WORDS),
}

function submit(input: VideoSubmit): VideoSubmission {
  const { baseUrl, forwardModelId, request } = input
  const { members, dropped } = placeFields(request, { members: placesOf(input), reserved: RESERVED })
  return {
    request: postJson(below(baseUrl, '/videos/generations'), {
      model: forwardModelId,
      prompt: request.prompt,
      ...members,
    }),
    state: {},
    dropped,
  }
}

const SHAPE: Shape = {
  names: { ratio: 'aspect_ratio', resolution: 'resolution' },
  ratios: ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9', '5:2'],
  tiers: { '480p': '480p', '720p': '720p' },
  letterCase: 'lower',
}

/** What a model accepts besides text and a first frame (the vendor's overview, autumn of 2026). */
interface Grok {
  readonly fullPictures: boolean
  readonly references: 'none' | 'instead-of-frames' | 'beside-frames'
  readonly lastFrame: boolean
}

function grokOf(model: string): Grok {
  if (model === 'grok-imagine-video') {
    return { fullPictures: false, references: 'instead-of-frames', lastFrame: false }
  }
  return /lite/.test(model)
    ? { fullPictures: true, references: 'none', lastFrame: false }
    : { fullPictures: true, references: 'beside-frames', lastFrame: true }
}

function placesOf(input: VideoSubmit): Partial<Record<ClientField, JsonObject | undefined>> {
  const { forwardModelId, request } = input
  const { firstFrame, lastFrame } = request
  const grok = grokOf(forwardModelId)
  const references = referencesOf(request, grok)
  // Full resolution is available for text and a first frame, not for references or last frames.
  const referring =
    references?.['reference_images'] !== undefined || (grok.lastFrame && lastFrame !== undefined)
  return {
    ...shapePlaces(request, {
      ...SHAPE,
      // An image has its own ratio: only an explicit one is sent with it.
      ratios: firstFrame === undefined ? SHAPE.ratios : [],
      tiers: grok.fullPictures && !referring ? { ...SHAPE.tiers, '1080p': '1080p' } : SHAPE.tiers,
    }),
    seconds: { duration: secondsValue(input) },
    input_reference: { image: pictureOf(firstFrame) },
    image_tail: grok.lastFrame ? { last_frame: pictureOf(lastFrame) } : undefined,
    reference_images: references,
    generate_audio: { generate_audio: request.generateAudio },
  }
}

function pictureOf(media: VideoMedia | undefined): JsonObject | undefined {
  return media === undefined ? undefined : { url: addressOf(media) }
}

function referencesOf({ firstFrame, referenceImages }: VideoRequest, grok: Grok): JsonObject | undefined {
  if (grok.references === 'none') return undefined
  if (grok.references === 'instead-of-frames' && firstFrame !== undefined) return undefined
  if (referenceImages.length === 0) return {}
  return { reference_images: referenceImages.map((image) => ({ url: addressOf(image) })) }
}

function read(reply: VideoReply, context: VideoContext): VideoStep {
  const body = objectAt(reply.body)
  const ordered = textIn(body['request_id']) ?? textIn(body['id'])
  const id = textIn(context.state['id']) ?? ordered
  const failure = failureIn(reply)
  if (id === undefined) {
    if (failure !== undefined) return failedStep(failure, context.state)
    return { kind: 'unreadable', detail: 'an answer without a request id' }
  }
  const video = objectAt(body, 'video')
  if (video['respect_moderation'] === false) return failedStep(moderated(reply), { id })
  const url = linkIn(video['url'])
  // While it waits, the answer is a 202, sometimes with an empty body; the create call's answer has no status either.
  const waiting = reply.status === 202 || (ordered !== undefined && body['status'] === undefined)
  return stepOf({
    word: body['status'] ?? (waiting ? 'pending' : undefined),
    result: url === undefined ? undefined : { kind: 'link', url, lastsMs: LINK_MS },
    failure,
    poll: getJson(below(context.baseUrl, `/videos/${encodeURIComponent(id)}`)),
    afterMs: POLL_MS,
    state: { id },
    progress: numberIn(body['progress']),
    secondsProduced: numberIn(video['duration']),
  })
}

function failureIn({ body }: VideoReply): VideoFailure | undefined {
  const error = objectAt(body, 'error')
  const code = textIn(error['code'])
  const message = textIn(error['message']) ?? textIn(objectAt(body)['error'])
  if (code === undefined && message === undefined) return undefined
  return failureOf({ code: code ?? textIn(objectAt(body)['code']), message, body, words: WORDS })
}

/** Finished, but withheld by moderation. */
function moderated({ body }: VideoReply): VideoFailure {
  const message = 'the finished video was withheld by the content policy'
  return { class: 'moderation', code: 'respect_moderation', message, body }
}
