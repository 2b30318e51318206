/** Luma's older API. Images by public address only. */
import type { JsonObject } from '../../core/json.ts'
import { classifyFailure } from '../../core/routing/failure.ts'
import type { VideoMedia, VideoRequest } from '../../core/video/request.ts'
import { below } from '../provider.ts'
import type {
  VideoContext,
  VideoDialect,
  VideoReply,
  VideoStep,
  VideoSubmission,
  VideoSubmit,
} from '../video.ts'
import { linkIn, objectAt, postJson } from '../video-forms/json.ts'
import { addressOf } from '../video-forms/media.ts'
import { type ClientField, placeFields } from '../video-forms/place.ts'
import { type Shape, shapePlaces } from '../video-forms/shape.ts'
import { durationPlace, readGeneration, renewed } from './task.ts'

export const lumaDreamMachineVideo: VideoDialect = {
  auth: { kind: 'bearer' },
  imageForms: ['url'],
  defaultSeconds: () => 5,
  submit,
  accepted: read,
  step: read,
  classify: (failure) => classifyFailure(failure),
  renew: renewed,
}

const SHAPE: Shape = {
  names: { ratio: 'aspect_ratio', resolution: 'resolution' },
  ratios: ['1:1', '3:4', '4:3', '9:16', '16:9', '9:21', '21:9'],
  tiers: { '540p': '540p', '720p': '720p', '1080p': '1080p', '4k': '4k' },
  letterCase: 'lower',
}

function submit(input: VideoSubmit): VideoSubmission {
  const { baseUrl, forwardModelId, request } = input
  const { members, dropped } = placeFields(request, { members: placesOf(input) })
  const body = { model: forwardModelId, prompt: request.prompt, ...members }
  return { request: postJson(below(baseUrl, '/generations'), body), state: {}, dropped }
}

function placesOf(input: VideoSubmit): Partial<Record<ClientField, JsonObject | undefined>> {
  const { request } = input
  return {
    ...shapePlaces(request, SHAPE),
    seconds: durationPlace(input, ['5s', '9s']),
    input_reference: { keyframes: keyframesOf(request) },
    image_tail: request.firstFrame === undefined ? undefined : {},
  }
}

function keyframesOf({ firstFrame, lastFrame }: VideoRequest): JsonObject | undefined {
  if (firstFrame === undefined) return undefined
  return { frame0: imageOf(firstFrame), ...(lastFrame === undefined ? {} : { frame1: imageOf(lastFrame) }) }
}

function imageOf(media: VideoMedia): JsonObject {
  return { type: 'image', url: addressOf(media) }
}

function read(reply: VideoReply, context: VideoContext): VideoStep {
  return readGeneration(reply, context, (body) => linkIn(objectAt(body, 'assets')['video']))
}
