/**
 * Gemini Omni, which makes videos over the Interactions API since Veo left the Gemini API (2026-10-22). A refusal is an
 * interaction that completed with text instead of a video.
 */

import { encodeBase64Bytes } from '../../core/canonical/media/base64.ts'
import type { HttpRequest } from '../../core/http-request.ts'
import type { ForwardModelId } from '../../core/ids.ts'
import type { JsonObject, JsonValue } from '../../core/json.ts'
import { classifyFailure, errorWords, type FailureWords } from '../../core/routing/failure.ts'
import type { VideoMedia, VideoRequest } from '../../core/video/request.ts'
import { ratioOfSize, type TierWords, tierWordOf } from '../../core/video/size.ts'
import { below } from '../provider.ts'
import type {
  VideoContext,
  VideoFailure,
  VideoReply,
  VideoResult,
  VideoStep,
  VideoSubmission,
  VideoSubmit,
} from '../video.ts'
import { taskClassOf } from '../video-forms/failure.ts'
import { getJson, linkIn, objectAt, objectsIn, postJson, textIn } from '../video-forms/json.ts'
import { type ClientField, placeFields } from '../video-forms/place.ts'
import { stepOf, taskWord } from '../video-forms/progress.ts'
import { secondsValue } from '../video-forms/seconds.ts'
import { fileResult } from './file-result.ts'

const POLL_MS = 10_000
const RATIOS = ['16:9', '9:16']
const STEPS: TierWords = { '720p': '720p', '1080p': '1080p', '4k': '4k' }
const REFERENCES_MAX = 6
const RESERVED = ['type', 'delivery']

export function isOmni(model: ForwardModelId): boolean {
  return model.includes('omni')
}

export function submitOmni(submit: VideoSubmit, defaultSeconds: number): VideoSubmission {
  const { baseUrl, forwardModelId, request } = submit
  const inputs = inputsOf(request)
  const seconds = secondsValue(submit) ?? defaultSeconds
  const { members, dropped } = placeFields(request, {
    members: {
      // A length with its unit; a bare number is refused.
      seconds: { duration: typeof seconds === 'number' ? `${seconds}s` : seconds },
      size: fromSize(request),
      ratio: { aspect_ratio: request.ratio },
      resolution: { resolution: request.resolution?.toLowerCase() },
      ...inputs.places,
    },
    reserved: RESERVED,
  })
  const body: JsonObject = {
    model: forwardModelId,
    input: inputs.input,
    background: true,
    response_format: { ...members, type: 'video', delivery: 'uri' },
    ...(inputs.task === undefined ? {} : { generation_config: { video_config: { task: inputs.task } } }),
  }
  return {
    request: postJson(below(baseUrl, '/interactions'), body),
    state: {},
    dropped: [...dropped, ...inputs.dropped],
  }
}

function fromSize({ size }: VideoRequest): JsonObject {
  if (size === undefined) return {}
  return { aspect_ratio: ratioOfSize(size, RATIOS), resolution: tierWordOf(size, STEPS) }
}

interface Inputs {
  readonly input: JsonValue
  /** undefined: the tags in the prompt determine it. */
  readonly task: string | undefined
  readonly places: Partial<Record<ClientField, JsonObject>>
  readonly dropped: readonly string[]
}

function inputsOf({ prompt, firstFrame, lastFrame, referenceImages }: VideoRequest): Inputs {
  const text = { type: 'text', text: prompt }
  if (firstFrame !== undefined && lastFrame !== undefined) {
    // There are no fields for two frames: tags in the prompt assign a role to each image.
    const tagged = { type: 'text', text: `<FIRST_FRAME> <LAST_FRAME> ${prompt}` }
    return {
      input: [imageOf(firstFrame), imageOf(lastFrame), tagged],
      task: undefined,
      places: { input_reference: {}, image_tail: {} },
      dropped: [],
    }
  }
  if (firstFrame !== undefined) {
    const places = { input_reference: {} }
    return { input: [imageOf(firstFrame), text], task: 'image_to_video', places, dropped: [] }
  }
  if (referenceImages.length === 0) {
    return { input: prompt, task: 'text_to_video', places: {}, dropped: [] }
  }
  return {
    input: [...referenceImages.slice(0, REFERENCES_MAX).map(imageOf), text],
    task: 'reference_to_video',
    places: { reference_images: {} },
    dropped: referenceImages.length > REFERENCES_MAX ? ['reference_images'] : [],
  }
}

function imageOf(media: VideoMedia): JsonObject {
  switch (media.kind) {
    case 'bytes':
      return {
        type: 'image',
        data: encodeBase64Bytes(media.bytes),
        mime_type: media.mediaType.toLowerCase(),
      }
    case 'url':
      return { type: 'image', uri: media.url }
  }
}

export function readOmni(reply: VideoReply, context: VideoContext): VideoStep {
  const interaction = objectAt(reply.body)
  const id = textIn(interaction['id']) ?? textIn(context.state['id'])
  if (id === undefined) return { kind: 'unreadable', detail: 'an answer without an interaction' }
  const contents = objectsIn(interaction['steps'])
    .filter((step) => step['type'] === 'model_output')
    .flatMap((step) => objectsIn(step['content']))
  const result = contents.map((content) => resultOf(content, context)).find((found) => found !== undefined)
  return stepOf({
    word: interaction['status'],
    result,
    failure: failureIn(interaction) ?? (result === undefined ? refusalIn(interaction, contents) : undefined),
    poll: interactionRequest(context, id),
    afterMs: POLL_MS,
    state: { id },
  })
}

function interactionRequest({ baseUrl }: VideoContext, id: string): HttpRequest {
  return getJson(below(baseUrl, `/interactions/${encodeURIComponent(id)}`))
}

function resultOf(content: JsonObject, { baseUrl }: VideoContext): VideoResult | undefined {
  if (content['type'] !== 'video') return undefined
  const data = textIn(content['data'])
  if (data !== undefined) {
    return { kind: 'base64', data, mediaType: textIn(content['mime_type']) ?? 'video/mp4' }
  }
  const uri = textIn(content['uri'])
  const name = /^files\/[\w-]+$/.exec(uri ?? '')?.[0]
  const url = name === undefined ? linkIn(uri) : below(baseUrl, `/${name}:download?alt=media`)
  return url === undefined ? undefined : fileResult(url, baseUrl)
}

/** Final states without an error. */
const STOPPED: ReadonlySet<string> = new Set(['incomplete', 'requires_action', 'budget_exceeded'])

/** Filters of Gemini, as codes. */
export const SAFETY_WORDS: FailureWords = {
  safety: 'refused-content',
  image_safety: 'refused-content',
  prohibited_content: 'refused-content',
  image_prohibited_content: 'refused-content',
  blocklist: 'refused-content',
  spii: 'refused-content',
}

function failureIn(interaction: JsonObject): VideoFailure | undefined {
  const { status, error, finish_reason: reason } = interaction
  const detail = objectAt(error)
  const message = textIn(detail['message'])
  const said = { ...detail, ...(textIn(reason) === undefined ? {} : { type: reason }) }
  if (errorWords({ error: said }).length > 0) {
    const found = classifyFailure({ status: 200, headers: {}, body: { error: said } }, SAFETY_WORDS)
    const code = textIn(detail['status']) ?? textIn(detail['code']) ?? textIn(reason) ?? 'failed'
    return { class: taskClassOf(found.kind), code, message: message ?? '', body: interaction }
  }
  const word = textIn(status)?.toLowerCase() ?? ''
  if (message === undefined && !STOPPED.has(word)) return undefined
  return { class: 'upstream', code: word, message: message ?? '', body: interaction }
}

/** Completed with text only: the model declined. */
function refusalIn(interaction: JsonObject, contents: readonly JsonObject[]): VideoFailure | undefined {
  if (taskWord(interaction['status']) !== 'done') return undefined
  const words = contents.map((content) => textIn(content['text'])).find((text) => text !== undefined)
  return words === undefined
    ? undefined
    : { class: 'moderation', code: 'no_video', message: words, body: interaction }
}
