/** Luma's Agents API: silent videos of five or ten seconds, between frames. */
import type { JsonObject } from '../../core/json.ts'
import { classifyFailure, type FailureWords } from '../../core/routing/failure.ts'
import type { VideoMedia, VideoRequest } from '../../core/video/request.ts'
import { encodeBase64Bytes } from '../../core/canonical/media/base64.ts'
import { below } from '../provider.ts'
import type {
  VideoDialect,
  VideoReply,
  VideoContext,
  VideoStep,
  VideoSubmission,
  VideoSubmit,
} from '../video.ts'
import { linkIn, objectsIn, postJson } from '../video-forms/json.ts'
import { type ClientField, placeFields } from '../video-forms/place.ts'
import { type Shape, shapePlaces } from '../video-forms/shape.ts'
import { durationPlace, readGeneration, renewed } from './task.ts'

const WORDS: FailureWords = { content_moderated: 'refused-content' }

export const lumaVideo: VideoDialect = {
  auth: { kind: 'bearer' },
  imageForms: ['url', 'bytes'],
  defaultSeconds: () => 5,
  submit,
  accepted: read,
  step: read,
  classify: (failure) => classifyFailure(failure, WORDS),
  renew: renewed,
}

const SHAPE: Shape = {
  names: { ratio: 'aspect_ratio', resolution: 'resolution' },
  ratios: ['9:16', '3:4', '1:1', '4:3', '16:9', '21:9'],
  tiers: { '540p': '540p', '720p': '720p', '1080p': '1080p' },
  letterCase: 'lower',
}

function submit(input: VideoSubmit): VideoSubmission {
  const { baseUrl, forwardModelId, request } = input
  const { members, dropped } = placeFields(request, { members: placesOf(input) })
  // Everything except the ratio is in `video`, including the vendor's own fields.
  const { aspect_ratio, ...video } = members
  const body = {
    model: forwardModelId,
    type: 'video',
    prompt: request.prompt,
    ...(aspect_ratio === undefined ? {} : { aspect_ratio }),
    video,
  }
  return { request: postJson(below(baseUrl, '/generations'), body), state: {}, dropped }
}

function placesOf(input: VideoSubmit): Partial<Record<ClientField, JsonObject | undefined>> {
  const { request } = input
  return {
    ...shapePlaces(request, SHAPE),
    seconds: durationPlace(input, ['5s', '10s']),
    input_reference: framesOf(input),
    image_tail: request.firstFrame === undefined ? undefined : {},
  }
}

/** The last frame of ten seconds at 24 frames a second. */
const LAST_OF_TEN = 240

/** `start` and `end` exist for five seconds only; ten seconds need them as key frames with positions. */
function framesOf({ request, seconds }: VideoSubmit): JsonObject {
  const frames = framesIn(request)
  if (frames.length === 0) return {}
  if (seconds !== 10) return { start_frame: frames[0], end_frame: frames[1] }
  return { keyframes: frames, keyframe_indexes: frames.length === 1 ? [0] : [0, LAST_OF_TEN] }
}

function framesIn({ firstFrame, lastFrame }: VideoRequest): readonly JsonObject[] {
  if (firstFrame === undefined) return []
  return lastFrame === undefined ? [frameOf(firstFrame)] : [frameOf(firstFrame), frameOf(lastFrame)]
}

function frameOf(media: VideoMedia): JsonObject {
  switch (media.kind) {
    case 'url':
      return { url: media.url }
    case 'bytes':
      return { data: encodeBase64Bytes(media.bytes), media_type: media.mediaType }
  }
}

function read(reply: VideoReply, context: VideoContext): VideoStep {
  return readGeneration(reply, context, (body) =>
    objectsIn(body['output'])
      .filter((entry) => entry['type'] === undefined || entry['type'] === 'video')
      .map((entry) => linkIn(entry['url']))
      .find((link) => link !== undefined),
  )
}
