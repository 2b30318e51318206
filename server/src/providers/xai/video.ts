/** Grok Imagine: one call to order, one address to ask until it is done. */
import type { JsonObject } from '../../core/json.ts'
import { classifyFailure, type FailureWords } from '../../core/routing/failure.ts'
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
import { getJson, postJson } from '../video-forms/json-request.ts'
import { addressOf } from '../video-forms/media.ts'
import { type ClientField, placeFields } from '../video-forms/place.ts'
import { stepOf } from '../video-forms/progress.ts'
import { linkIn, numberIn, objectAt, textIn } from '../video-forms/read.ts'
import { secondsValue } from '../video-forms/seconds.ts'
import { type Shape, shapePlaces } from '../video-forms/shape.ts'
import { failureOf } from '../video-forms/vendor-failure.ts'

const POLL_MS = 5_000
/** The vendor says "temporary" and no more. */
const LINK_MS = 3_600_000

const WORDS: FailureWords = { service_unavailable: 'overloaded' }

export const xaiVideo: VideoDialect = {
  auth: () => ({ kind: 'bearer' }),
  imageForms: ['url', 'bytes'],
  defaultSeconds: () => 8,
  submit,
  accepted: read,
  step: read,
  classify: (failure) => classifyFailure(failure, WORDS),
}

function submit(input: VideoSubmit): VideoSubmission {
  const { baseUrl, forwardModelId, request } = input
  const { members, dropped } = placeFields(request, { members: placesOf(input) })
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
  ratios: ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3'],
  tiers: { '480p': '480p', '720p': '720p' },
  letters: 'lower',
}

function placesOf(input: VideoSubmit): Partial<Record<ClientField, JsonObject | undefined>> {
  const { forwardModelId, request } = input
  const { firstFrame, referenceImages } = request
  const newer = !/^grok-imagine-video$/.test(forwardModelId)
  // Full pictures are of 1.5 only, and not from references.
  const full =
    newer && !/lite/.test(forwardModelId) && (referenceImages.length === 0 || firstFrame !== undefined)
  return {
    ...shapePlaces(request, {
      ...SHAPE,
      // A ratio beside a picture stretches it: only one asked for outright is sent.
      ratios: firstFrame === undefined ? SHAPE.ratios : [],
      tiers: full ? { ...SHAPE.tiers, '1080p': '1080p' } : SHAPE.tiers,
    }),
    seconds: { duration: secondsValue(input) },
    input_reference: { image: firstFrame === undefined ? undefined : { url: addressOf(firstFrame) } },
    // A picture and references exclude each other.
    reference_images:
      firstFrame === undefined
        ? { reference_images: listed(referenceImages.map((image) => ({ url: addressOf(image) }))) }
        : undefined,
    generate_audio: newer ? { generate_audio: request.generateAudio } : undefined,
  }
}

function listed(entries: readonly JsonObject[]): readonly JsonObject[] | undefined {
  return entries.length === 0 ? undefined : entries
}

function read(reply: VideoReply, context: VideoContext): VideoStep {
  const body = objectAt(reply.body)
  const id = textIn(context.state['id']) ?? textIn(body['request_id'])
  const failure = failureIn(reply)
  if (id === undefined) {
    if (failure !== undefined) return failedStep(failure, context.state)
    return { kind: 'unreadable', detail: 'an answer without a request id' }
  }
  const video = objectAt(body, 'video')
  if (video['respect_moderation'] === false) return failedStep(moderated(reply), { id })
  const url = linkIn(video['url'])
  // While it waits the answer is a 202, with an empty body at times; the create call's answer has no status either.
  const waiting =
    reply.status === 202 || (textIn(body['request_id']) !== undefined && body['status'] === undefined)
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

/** Done, but kept back. */
function moderated({ body }: VideoReply): VideoFailure {
  const message = 'the finished video was kept back by the content policy'
  return { class: 'moderation', code: 'respect_moderation', message, body }
}
