/** Wan on Model Studio: every call is a task, polled by its id until the vendor has deleted it. */
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
import { getJson, linkIn, numberIn, objectAt, postJson, textIn } from '../video-forms/json.ts'
import { addressOf } from '../video-forms/media.ts'
import { type ClientField, merged, placeFields } from '../video-forms/place.ts'
import { stepOf, taskWord } from '../video-forms/progress.ts'
import { secondsValue } from '../video-forms/seconds.ts'
import { pixelPlaces, pixelsOf, type Shape, shapePlaces } from '../video-forms/shape.ts'
import { failedStep } from '../video-forms/failure.ts'
import { failureOf } from '../video-forms/vendor-failure.ts'
import { WORDS } from './failure-words.ts'
import { hasMediaList, isUnited, type WanMode, wanModelFor } from './wan-models.ts'

/** From the vendor's page; 20 polls per second are allowed per account. */
const POLL_MS = 15_000
/** Task and link expire together. */
const LINK_MS = 24 * 3_600_000

export const dashscopeVideo: VideoDialect = {
  auth: { kind: 'bearer' },
  imageForms: ['url', 'bytes'],
  defaultSeconds: () => 5,
  submit,
  accepted: read,
  step: read,
  classify: (failure) => classifyFailure(failure, WORDS),
}

function submit(input: VideoSubmit): VideoSubmission {
  const { baseUrl, forwardModelId, request } = input
  const model = wanModelFor(forwardModelId, modesOf(request, forwardModelId))
  const listed = hasMediaList(forwardModelId)
  const places = listed ? listPlaces(input, model.mode) : fieldPlaces(input, model.mode)
  const { members, dropped } = placeFields(request, {
    members: places,
    reserved: ['size', 'img_url', 'media'],
  })
  const inInput = INPUT_FIELDS.filter((name) => members[name] !== undefined)
  const body: JsonObject = {
    model: model.name,
    input: merged([
      { prompt: request.prompt, negative_prompt: request.negativePrompt },
      listed ? mediaList(request, model.mode, isUnited(forwardModelId)) : mediaFields(request, model.mode),
      Object.fromEntries(inInput.map((name) => [name, members[name]])),
    ]),
    parameters: Object.fromEntries(Object.entries(members).filter(([name]) => !inInput.includes(name))),
  }
  const posted = postJson(below(apiOf(baseUrl), pathOf(model.name)), body)
  return {
    request: { ...posted, headers: { ...posted.headers, 'x-dashscope-async': 'enable' } },
    state: {},
    dropped,
  }
}

/** The vendor's own fields that belong next to the prompt, not into the parameters. */
const INPUT_FIELDS: readonly string[] = [
  'media',
  'img_url',
  'first_frame_url',
  'last_frame_url',
  'reference_urls',
  'audio_url',
  'template',
]

/** The modes that fit the order's images, best first. Only 2.7 takes a first frame together with references. */
function modesOf(request: VideoRequest, model: string): readonly WanMode[] {
  const together = hasMediaList(model) && !isUnited(model)
  const references = request.referenceImages.length > 0 || request.referenceVideos.length > 0
  const asked: readonly (readonly [WanMode, boolean])[] = [
    ['frames', request.firstFrame !== undefined && request.lastFrame !== undefined],
    ['references', references && together],
    ['image', request.firstFrame !== undefined],
    ['references', references],
    ['text', true],
  ]
  return asked.filter(([, wanted]) => wanted).map(([mode]) => mode)
}

type Places = Partial<Record<ClientField, JsonObject | undefined>>

function sharedPlaces(input: VideoSubmit): Places {
  const { request } = input
  return {
    seconds: { duration: secondsValue(input) },
    negative_prompt: {},
    seed: { seed: request.seed },
    watermark: { watermark: request.watermark },
    prompt_extend: { prompt_extend: request.promptExtend },
  }
}

const LIST_SHAPE: Shape = {
  names: { ratio: 'ratio', resolution: 'resolution' },
  ratios: ['16:9', '9:16', '1:1', '4:3', '3:4'],
  tiers: { '720p': '720P', '1080p': '1080P' },
  letterCase: 'upper',
}
const UNITED_SHAPE: Shape = {
  ...LIST_SHAPE,
  ratios: [...LIST_SHAPE.ratios, '21:9'],
  tiers: { '480p': '480P', ...LIST_SHAPE.tiers },
}

function listPlaces(input: VideoSubmit, mode: WanMode): Places {
  const { request } = input
  const united = isUnited(input.forwardModelId)
  const framed = request.firstFrame !== undefined && mode !== 'text'
  const shape = united ? UNITED_SHAPE : LIST_SHAPE
  const shaped = shapePlaces(request, framed ? { ...shape, ratios: [] } : shape)
  return {
    ...sharedPlaces(input),
    ...shaped,
    // With a first frame, the ratio is the frame's.
    ratio: framed && !united ? undefined : shaped.ratio,
    input_reference: mode === 'text' ? undefined : {},
    image_tail: mode === 'frames' ? {} : undefined,
    reference_images: mode === 'references' ? {} : undefined,
    reference_videos: mode === 'references' ? {} : undefined,
    reference_audios: mode === 'references' && united ? {} : undefined,
    generate_audio: united ? { audio: request.generateAudio } : undefined,
  }
}

function mediaList(request: VideoRequest, mode: WanMode, united: boolean): JsonObject {
  const entries = [
    ...(mode === 'text' ? [] : listed('first_frame', request.firstFrame)),
    ...(mode === 'frames' ? listed('last_frame', request.lastFrame) : []),
    ...(mode === 'references' ? references(request, united) : []),
  ]
  return entries.length === 0 ? {} : { media: entries }
}

function references(request: VideoRequest, united: boolean): readonly JsonObject[] {
  return [
    ...request.referenceImages.flatMap((image) => listed('reference_image', image)),
    ...request.referenceVideos.map((url) => ({ type: 'reference_video', url })),
    ...(united ? request.referenceAudios.map((url) => ({ type: 'reference_audio', url })) : []),
  ]
}

function listed(type: string, media: VideoMedia | undefined): readonly JsonObject[] {
  return media === undefined ? [] : [{ type, url: addressOf(media) }]
}

/** Sizes of 2.1 to 2.6. */
const SIZES: readonly string[] = [
  '832*480',
  '480*832',
  '624*624',
  '1280*720',
  '720*1280',
  '960*960',
  '1088*832',
  '832*1088',
  '1920*1080',
  '1080*1920',
  '1440*1440',
  '1632*1248',
  '1248*1632',
]
const FRAME_SHAPE: Shape = {
  ...LIST_SHAPE,
  ratios: [],
  tiers: { '480p': '480P', '720p': '720P', '1080p': '1080P' },
}

function fieldPlaces(input: VideoSubmit, mode: WanMode): Places {
  const { forwardModelId, request } = input
  const framed = mode === 'image' || mode === 'frames'
  const shaped = framed
    ? { ...shapePlaces(request, FRAME_SHAPE), ratio: undefined }
    : pixelPlaces('size', pixelsOf(request, SIZES))
  return {
    ...sharedPlaces(input),
    ...shaped,
    input_reference: framed ? {} : undefined,
    image_tail: mode === 'frames' ? {} : undefined,
    reference_images: mode === 'references' ? {} : undefined,
    reference_videos: mode === 'references' ? {} : undefined,
    // Only the fast models of 2.6 can omit sound.
    generate_audio: /^wan2\.6-.*flash/.test(forwardModelId) ? { audio: request.generateAudio } : undefined,
  }
}

function mediaFields(request: VideoRequest, mode: WanMode): JsonObject {
  const first = request.firstFrame === undefined ? undefined : addressOf(request.firstFrame)
  const last = request.lastFrame === undefined ? undefined : addressOf(request.lastFrame)
  switch (mode) {
    case 'text':
      return {}
    case 'image':
      return { img_url: first }
    case 'frames':
      return { first_frame_url: first, last_frame_url: last }
    case 'references': {
      const urls = [...request.referenceImages.map(addressOf), ...request.referenceVideos]
      return urls.length === 0 ? {} : { reference_urls: urls }
    }
  }
}

/** The chat address ends in `/compatible-mode/v1`, the video one in `/api/v1`, both below the same host. */
function apiOf(baseUrl: string): string {
  const root = baseUrl.replace(/\/+$/, '').replace(/\/(compatible-mode|api)\/v1$/, '')
  return below(root, '/api/v1')
}

function pathOf(model: string): string {
  const service = /-kf2v-/.test(model) ? 'image2video' : 'video-generation'
  return `/services/aigc/${service}/video-synthesis`
}

/** An expired task is UNKNOWN. A new one may be so for a moment too; then it is polled again. */
const UNKNOWNS_MAX = 3

function read(reply: VideoReply, context: VideoContext): VideoStep {
  const output = objectAt(reply.body, 'output')
  const usage = objectAt(reply.body, 'usage')
  const id = textIn(context.state['id']) ?? textIn(output['task_id'])
  const failure = failureIn(reply, output)
  if (id === undefined) {
    if (failure !== undefined) return failedStep(failure, context.state)
    return { kind: 'unreadable', detail: 'an answer without a task id' }
  }
  const word = output['task_status']
  const unknown = textIn(word)?.toUpperCase() === 'UNKNOWN'
  const unknowns = unknown ? (numberIn(context.state['unknowns']) ?? 0) + 1 : 0
  const state: JsonObject = unknowns === 0 ? { id } : { id, unknowns }
  if (unknowns >= UNKNOWNS_MAX) return forgotten(reply, state)
  const url = linkIn(output['video_url']) ?? linkIn(objectAt(output, 'results')['video_url'])
  return stepOf({
    word,
    result: url === undefined ? undefined : { kind: 'link', url, lastsMs: LINK_MS },
    failure,
    poll: getJson(below(apiOf(context.baseUrl), `/tasks/${encodeURIComponent(id)}`)),
    afterMs: POLL_MS,
    state,
    secondsProduced: numberIn(usage['output_video_duration'] ?? usage['video_duration'] ?? usage['duration']),
    size: textIn(usage['size'])?.replace('*', 'x'),
  })
}

/** A failed task has its code in `output`, a refused call at the top level. */
function failureIn({ body }: VideoReply, output: JsonObject): ReturnType<typeof failureOf> | undefined {
  const top = objectAt(body)
  const code = textIn(output['code']) ?? textIn(top['code'])
  if (code === undefined && taskWord(output['task_status']) !== 'failed') return undefined
  return failureOf({ code, message: textIn(output['message']) ?? textIn(top['message']), body, words: WORDS })
}

function forgotten({ body }: VideoReply, state: JsonObject): VideoStep {
  const message = 'the task is not known upstream any more'
  return failedStep({ class: 'expired', code: 'UNKNOWN', message, body }, state)
}
