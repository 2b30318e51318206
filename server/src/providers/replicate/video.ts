/** Replicate: a prediction, polled until it has ended. */
import type { JsonObject, JsonValue } from '../../core/json.ts'
import { classifyFailure } from '../../core/routing/failure.ts'
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
import { getJson, linkIn, numberIn, objectAt, originOf, postJson, textIn } from '../video-forms/json.ts'
import { addressOf } from '../video-forms/media.ts'
import { OTHER_LENGTHS } from '../video-forms/other-lengths.ts'
import { type ClientField, placeFields } from '../video-forms/place.ts'
import { stepOf } from '../video-forms/progress.ts'
import { secondsValue } from '../video-forms/seconds.ts'
import { shapePlaces } from '../video-forms/shape.ts'
import { failureOf } from '../video-forms/vendor-failure.ts'
import { codeIn, WORDS } from './failures.ts'
import { type ModelInputs, modelInputs } from './model-inputs.ts'
import { targetOf } from './target.ts'

const POLL_MS = 3_000
/** Outputs are removed about an hour after the end. */
const LINK_MS = 3_600_000

export const replicateVideo: VideoDialect = {
  auth: { kind: 'bearer' },
  imageForms: ['url', 'bytes'],
  defaultSeconds: (model) => modelInputs(model).defaultSeconds,
  submit,
  accepted: read,
  step: read,
  classify: (failure) => classifyFailure(failure),
}

function submit(input: VideoSubmit): VideoSubmission {
  const { baseUrl, forwardModelId, request } = input
  const { members, dropped } = placeFields(request, { members: placesOf(input), reserved: OTHER_LENGTHS })
  const { path, version } = targetOf(forwardModelId)
  const body = {
    ...(version === undefined ? {} : { version }),
    input: { prompt: request.prompt, ...members },
  }
  return { request: postJson(below(baseUrl, path), body), state: {}, dropped }
}

function placesOf(input: VideoSubmit): Partial<Record<ClientField, JsonObject | undefined>> {
  const { forwardModelId, request } = input
  const inputs = modelInputs(forwardModelId)
  const { firstFrame, lastFrame } = request
  return {
    ...shapePlaces(request, {
      names: { ratio: inputs.ratio, resolution: inputs.resolution },
      ratios: firstFrame === undefined ? inputs.ratios : [],
      tiers: inputs.tiers,
      letterCase: 'lower',
    }),
    ...(forwardModelId.startsWith('openai/sora') ? soraShape(request) : {}),
    seconds: { [inputs.seconds]: secondsValue(input) },
    input_reference: { [inputs.first]: firstFrame === undefined ? undefined : addressOf(firstFrame) },
    image_tail:
      inputs.last === undefined || firstFrame === undefined
        ? undefined
        : { [inputs.last]: lastFrame === undefined ? undefined : addressOf(lastFrame) },
    reference_images: referencesOf(request, inputs),
    negative_prompt: { negative_prompt: request.negativePrompt },
    generate_audio: { generate_audio: request.generateAudio },
    seed: { seed: request.seed },
    prompt_extend:
      inputs.promptExtend === undefined ? undefined : { [inputs.promptExtend]: request.promptExtend },
  }
}

/** On Replicate, Sora's size is a word for the orientation. */
function soraShape({ size }: VideoRequest): Partial<Record<ClientField, JsonObject>> {
  if (size === undefined) return {}
  return { size: { aspect_ratio: size.height > size.width ? 'portrait' : 'landscape' } }
}

function referencesOf(
  { referenceImages }: VideoRequest,
  { references }: ModelInputs,
): JsonObject | undefined {
  if (references === undefined) return undefined
  if (referenceImages.length === 0) return {}
  const addresses = referenceImages.map(addressOf)
  return { [references]: references === 'subject_reference' ? addresses[0] : addresses }
}

function read(reply: VideoReply, context: VideoContext): VideoStep {
  const body = objectAt(reply.body)
  const id = textIn(context.state['id']) ?? textIn(body['id'])
  const failure = failureIn(reply)
  if (id === undefined) {
    if (failure !== undefined) return failedStep(failure, context.state)
    return { kind: 'unreadable', detail: 'an answer without a prediction id' }
  }
  const state: JsonObject = { id, ...questionIn(body, context) }
  const url = linkOf(body['output'])
  const metrics = objectAt(body, 'metrics')
  return stepOf({
    word: body['status'],
    result: url === undefined || body['error'] ? undefined : { kind: 'link', url, lastsMs: LINK_MS },
    failure,
    poll: getJson(textIn(state['get']) ?? below(context.baseUrl, `/predictions/${encodeURIComponent(id)}`)),
    afterMs: POLL_MS,
    state,
    secondsProduced: numberIn(metrics['video_output_duration_seconds']),
  })
}

/** The address to poll; the key is sent to it only if it is on the host of the order. */
function questionIn(body: JsonObject, { baseUrl, state }: VideoContext): JsonObject {
  if (state['get'] !== undefined) return { get: state['get'] }
  const url = linkIn(objectAt(body, 'urls')['get'])
  return url === undefined || originOf(url) !== originOf(baseUrl) ? {} : { get: url }
}

/** An address, a list of them, or an object that has one. */
function linkOf(output: JsonValue | undefined): string | undefined {
  if (Array.isArray(output)) return output.map(linkOf).find((link) => link !== undefined)
  if (typeof output === 'string') return linkIn(output)
  const { video, url } = objectAt(output)
  return linkIn(video) ?? linkIn(url)
}

function failureIn({ body }: VideoReply): VideoFailure | undefined {
  const top = objectAt(body)
  const message = textIn(top['error']) ?? textIn(top['detail'])
  if (message === undefined) return undefined
  return failureOf({ code: codeIn(message), message, body: withoutInput(top), words: WORDS })
}

/** Every answer repeats the client's own input, and so would every error. */
function withoutInput(top: JsonObject): JsonObject {
  const { input: _input, logs: _logs, ...rest } = top
  return rest
}
