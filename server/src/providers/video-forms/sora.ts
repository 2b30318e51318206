/**
 * OpenAI's video form: Sora's form, which many servers have adopted. JSON without an image, a form with one: images in
 * JSON are refused, and not every server understands forms.
 */
import type { HttpRequest } from '../../core/http-request.ts'
import type { ForwardModelId } from '../../core/ids.ts'
import type { JsonObject, JsonValue } from '../../core/json.ts'
import { classifyFailure } from '../../core/routing/failure.ts'
import type { VideoRequest, VideoSize } from '../../core/video/request.ts'
import { parseSize, sizeNearest } from '../../core/video/size.ts'
import { below } from '../provider.ts'
import type {
  VideoContext,
  VideoDialect,
  VideoFailure,
  VideoReply,
  VideoResult,
  VideoStep,
  VideoSubmission,
  VideoSubmit,
} from '../video.ts'
import { taskClassOf } from './failure.ts'
import { getJson, linkIn, numberIn, objectAt, originOf, postJson, textIn } from './json.ts'
import { type FormPart, filenameOf, multipartBody, partsOf } from './multipart.ts'
import { type ClientField, placeFields } from './place.ts'
import { stepOf, taskWord } from './progress.ts'

/** The vendor's default. */
const DEFAULT_SECONDS = 4
/** The guide says 10 to 20 seconds. */
const POLL_MS = 10_000
/** Sora's content links are valid for at most an hour; for other servers this is unknown. */
const LINK_MS = 3_600_000

const SMALL_SIZES = ['720x1280', '1280x720']
const PRO_SIZES = [...SMALL_SIZES, '1024x1792', '1792x1024', '1080x1920', '1920x1080']

interface SoraVendor {
  /**
   * `sora`: only what Sora accepts. `imitation`: the server behind it is unknown, so plain values are passed on under
   * their own names.
   */
  readonly upstream: 'sora' | 'imitation'
}

export function soraVideo({ upstream }: SoraVendor): VideoDialect {
  return {
    auth: { kind: 'bearer' },
    imageForms: ['bytes'],
    defaultSeconds: () => DEFAULT_SECONDS,
    submit: (input) => submit(input, upstream === 'sora'),
    accepted: read,
    step: read,
    classify: (failure) => classifyFailure(failure),
    renew: (context) => {
      const id = textIn(context.state['id'])
      return id === undefined ? undefined : getJson(taskUrl(context, id))
    },
  }
}

function submit(input: VideoSubmit, sora: boolean): VideoSubmission {
  const { baseUrl, forwardModelId, request, taskId } = input
  const { members, dropped } = placeFields(request, {
    members: { ...placesOf(input, sora), ...(sora ? {} : plainValues(request)) },
    reserved: ['input_reference'],
  })
  const body: JsonObject = { model: forwardModelId, prompt: request.prompt, ...members }
  return {
    request: videosRequest({ url: below(baseUrl, '/videos'), body, request, taskId }),
    state: {},
    dropped,
  }
}

function placesOf(
  { forwardModelId, request, seconds }: VideoSubmit,
  sora: boolean,
): Partial<Record<ClientField, JsonObject | undefined>> {
  const size = request.size === undefined ? undefined : sizeFor(request.size, forwardModelId, sora)
  return {
    // Unchanged: this form has the length as text, as clients send it.
    seconds: { seconds: request.seconds ?? (seconds === undefined ? undefined : String(seconds)) },
    size: size === undefined ? undefined : { size },
    input_reference: {},
  }
}

/**
 * Sora refuses sizes other than its own. A compatible server has the client's own form, so nothing needs converting.
 */
function sizeFor(size: VideoSize, model: ForwardModelId, sora: boolean): string | undefined {
  const text = `${size.width}x${size.height}`
  if (!sora) return text
  if (!PRO_SIZES.includes(text)) return undefined
  return /pro/i.test(model) ? text : sizeNearest(size, SMALL_SIZES)
}

function plainValues(request: VideoRequest): Partial<Record<ClientField, JsonObject | undefined>> {
  return {
    ratio: { ratio: request.ratio },
    resolution: { resolution: request.resolution },
    negative_prompt: { negative_prompt: request.negativePrompt },
    generate_audio: { generate_audio: request.generateAudio },
    seed: { seed: request.seed },
    watermark: { watermark: request.watermark },
    prompt_extend: { prompt_extend: request.promptExtend },
  }
}

function videosRequest(given: {
  readonly url: string
  readonly body: JsonObject
  readonly request: VideoRequest
  readonly taskId: string
}): HttpRequest {
  const { url, body, request, taskId } = given
  const picture = request.firstFrame
  if (picture === undefined) return postJson(url, body)
  if (picture.kind === 'url') return postJson(url, { ...body, input_reference: { image_url: picture.url } })
  const file: FormPart = {
    name: 'input_reference',
    filename: filenameOf(picture.mediaType),
    file: picture,
  }
  const boundary = `form-${taskId}`
  return {
    method: 'POST',
    url,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, accept: 'application/json' },
    body: multipartBody(
      [...Object.entries(body).flatMap(([name, value]) => partsOf(name, value)), file],
      boundary,
    ),
  }
}

/** Creation and polls have the same answer. Some servers wrap the task in `data` and use various names for its link. */
function read(reply: VideoReply, context: VideoContext): VideoStep {
  const top = objectAt(reply.body)
  const data = objectAt(top, 'data')
  const id =
    textIn(context.state['id']) ??
    textIn(top['id']) ??
    textIn(top['task_id']) ??
    textIn(data['id']) ??
    textIn(data['task_id'])
  if (id === undefined) return { kind: 'unreadable', detail: 'an answer without a task id' }
  const word = top['status'] ?? data['status'] ?? data['task_status']
  const link =
    linkIn(top['url']) ??
    linkIn(top['video_url']) ??
    linkIn(data['url']) ??
    linkIn(data['video_url']) ??
    linkIn(objectAt(top, 'metadata')['url'])
  const size = textIn(top['size'])
  return stepOf({
    word,
    // For unknown words only a link counts: bytes under the id exist only after a known word.
    result: link === undefined && taskWord(word) !== 'done' ? undefined : resultOf(link, id, context),
    failure: failureIn(
      top['error'] ?? data['error'] ?? top['fail_reason'] ?? data['fail_reason'],
      reply.body,
    ),
    poll: getJson(taskUrl(context, id)),
    afterMs: POLL_MS,
    state: { ...context.state, id },
    progress: numberIn(top['progress'] ?? data['progress']),
    size: size === undefined || parseSize(size) === undefined ? undefined : size,
  })
}

/** A link on the same server may need the key; any other is public and gets no key. */
function resultOf(link: string | undefined, id: string, context: VideoContext): VideoResult {
  const own = link === undefined || originOf(link) === originOf(context.baseUrl)
  if (!own) return { kind: 'link', url: link, lastsMs: LINK_MS }
  const url = link ?? `${taskUrl(context, id)}/content`
  return { kind: 'download', request: { method: 'GET', url, headers: {} } }
}

function failureIn(error: JsonValue | undefined, body: JsonValue | undefined): VideoFailure | undefined {
  if (error === undefined || error === null || error === '') return undefined
  const detail = objectAt(error)
  const found = classifyFailure({ status: 200, headers: {}, body: { error: detail } })
  const message = textIn(detail['message']) ?? textIn(error) ?? ''
  return { class: taskClassOf(found.kind), code: textIn(detail['code']) ?? 'failed', message, body }
}

function taskUrl({ baseUrl }: VideoContext, id: string): string {
  return below(baseUrl, `/videos/${encodeURIComponent(id)}`)
}
