/** Runway: one path for text, one for images, and one kind of task for both. */
import type { HttpRequest } from '../../core/http-request.ts'
import type { JsonObject } from '../../core/json.ts'
import {
  classifyFailure,
  type FailureClass,
  type FailureWords,
  type UpstreamFailure,
} from '../../core/routing/failure.ts'
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
import { getJson, linkIn, numberIn, objectAt, postJson, textIn } from '../video-forms/json.ts'
import { addressOf } from '../video-forms/media.ts'
import { type ClientField, placeFields } from '../video-forms/place.ts'
import { stepOf, taskWord } from '../video-forms/progress.ts'
import { secondsValue } from '../video-forms/seconds.ts'
import { pixelPlaces, pixelsOf, shapePlaces } from '../video-forms/shape.ts'
import { type RunwayModel, runwayModel } from './runway-models.ts'

/** The least the vendor allows. */
const POLL_MS = 5_000
/** Links are valid for one to two days; requesting the task again returns new ones. */
const LINK_MS = 24 * 3_600_000

export const runwayVideo: VideoDialect = {
  auth: { kind: 'bearer' },
  imageForms: ['url', 'bytes'],
  defaultSeconds: (model) => runwayModel(model).seconds,
  submit,
  accepted: read,
  step: read,
  classify,
  renew: (context) => {
    const id = textIn(context.state['id'])
    return id === undefined ? undefined : taskRequest(context, id)
  },
}

function submit(input: VideoSubmit): VideoSubmission {
  const { baseUrl, forwardModelId, request } = input
  const model = runwayModel(forwardModelId)
  const framed = request.firstFrame !== undefined
  const { members, dropped } = placeFields(request, {
    members: framed ? imagePlaces(input, model) : textPlaces(input, model),
    reserved: ['promptText'],
  })
  const path = framed ? '/v1/image_to_video' : '/v1/text_to_video'
  const body = {
    model: forwardModelId,
    promptText: request.prompt,
    ...ratioAtLeast(request, model),
    ...members,
  }
  return { request: versioned(postJson(addressOfApi(baseUrl, path), body)), state: {}, dropped }
}

type Places = Partial<Record<ClientField, JsonObject | undefined>>

function sharedPlaces(input: VideoSubmit, model: RunwayModel): Places {
  const { request } = input
  return {
    seconds: { duration: secondsValue(input) },
    negative_prompt: model.negativePrompt ? { negativePrompt: request.negativePrompt } : undefined,
    generate_audio: model.audio ? { audio: request.generateAudio } : undefined,
    seed: model.seed ? { seed: request.seed } : undefined,
    reference_audios: model.references
      ? listed('referenceAudio', request.referenceAudios, 'audio')
      : undefined,
  }
}

function textPlaces(input: VideoSubmit, model: RunwayModel): Places {
  const { request } = input
  const images = request.referenceImages.map((image) => ({ uri: addressOf(image) }))
  return {
    ...pixelPlaces('ratio', pixelsOf(request, model.textRatios)),
    ...sharedPlaces(input, model),
    reference_images: model.references ? { references: images.length === 0 ? undefined : images } : undefined,
    reference_videos: model.references
      ? listed('referenceVideos', request.referenceVideos, 'video')
      : undefined,
  }
}

function imagePlaces(input: VideoSubmit, model: RunwayModel): Places {
  const { request } = input
  const { firstFrame, lastFrame } = request
  const frames = [
    ...(firstFrame === undefined ? [] : [{ uri: addressOf(firstFrame), position: 'first' }]),
    ...(lastFrame === undefined || !model.lastFrame ? [] : [{ uri: addressOf(lastFrame), position: 'last' }]),
  ]
  return {
    ...(model.imageResolution
      ? resolutionPlaces(request)
      : pixelPlaces('ratio', pixelsOf(request, model.imageRatios))),
    ...sharedPlaces(input, model),
    input_reference: { promptImage: frames },
    image_tail: model.lastFrame ? {} : undefined,
  }
}

/** Most models require a ratio: if the order implies none, the default of its orientation is used. */
function ratioAtLeast({ size }: VideoRequest, model: RunwayModel): JsonObject {
  if (model.ratioOptional) return {}
  return { ratio: size !== undefined && size.height > size.width ? '720:1280' : '1280:720' }
}

function resolutionPlaces(request: VideoRequest): Places {
  const shaped = shapePlaces(request, {
    names: { ratio: 'ratio', resolution: 'resolution' },
    ratios: [],
    tiers: { '720p': '720P', '1080p': '1080P' },
    letterCase: 'upper',
  })
  return { ...shaped, ratio: undefined }
}

function listed(name: string, addresses: readonly string[], type: string): JsonObject {
  return addresses.length === 0 ? {} : { [name]: addresses.map((uri) => ({ type, uri })) }
}

/** With or without the version in the base address. */
function addressOfApi(baseUrl: string, path: string): string {
  return below(baseUrl.replace(/\/+$/, '').replace(/\/v1$/, ''), path)
}

function taskRequest({ baseUrl }: VideoContext, id: string): HttpRequest {
  return versioned(getJson(addressOfApi(baseUrl, `/v1/tasks/${encodeURIComponent(id)}`)))
}

function versioned(request: HttpRequest): HttpRequest {
  return { ...request, headers: { ...request.headers, 'x-runway-version': '2024-11-06' } }
}

function read(reply: VideoReply, context: VideoContext): VideoStep {
  const body = objectAt(reply.body)
  const id = textIn(context.state['id']) ?? textIn(body['id'])
  const failure = failureIn(reply)
  if (id === undefined) {
    if (failure !== undefined) return failedStep(failure, context.state)
    return { kind: 'unreadable', detail: 'an answer without a task id' }
  }
  const output: unknown = body['output']
  const url = Array.isArray(output)
    ? output.map(linkIn).find((link) => link !== undefined)
    : linkIn(body['output'])
  const progress = numberIn(body['progress'])
  // The create call answers with the id alone.
  const created = body['status'] === undefined && textIn(body['id']) === id
  return stepOf({
    word: body['status'] ?? (created ? 'pending' : undefined),
    result: url === undefined ? undefined : { kind: 'link', url, lastsMs: LINK_MS },
    failure,
    poll: taskRequest(context, id),
    afterMs: POLL_MS,
    state: { id },
    progress: progress === undefined ? undefined : progress * 100,
  })
}

function failureIn({ body }: VideoReply): VideoFailure | undefined {
  const top = objectAt(body)
  const code = textIn(top['failureCode'])
  const message = textIn(top['failure']) ?? textIn(top['error'])
  if (code === undefined && message === undefined && taskWord(top['status']) !== 'failed') return undefined
  return { class: classOf(code ?? ''), code: code ?? 'FAILED', message: message ?? '', body }
}

/** Codes are paths: SAFETY.INPUT.TEXT, INPUT_PREPROCESSING.SAFETY.TEXT, ASSET.INVALID, INTERNAL.BAD_OUTPUT.CODE01. */
function classOf(code: string): VideoFailure['class'] {
  const steps = code.toUpperCase().split('.')
  if (steps.includes('SAFETY')) return 'moderation'
  return steps[0] === 'ASSET' ? 'invalid' : 'upstream'
}

/** The vendor has no code for it, only this sentence. */
const WORDS: FailureWords = { 'you do not have enough credits to run this task.': 'quota' }

/** Concurrent calls are queued, so a 429 means that the daily quota is used up. */
function classify(failure: UpstreamFailure): FailureClass {
  return failure.status === 429 ? { kind: 'quota' } : classifyFailure(failure, WORDS)
}
