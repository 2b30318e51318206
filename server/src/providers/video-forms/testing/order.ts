/** Orders and scripted upstreams for the tests of vendors' video APIs. */
import type { HttpRequest } from '../../../core/http-request.ts'
import { forwardModelId } from '../../../core/ids.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.ts'
import type { VideoMedia, VideoRequest } from '../../../core/video/request.ts'
import type { VideoContext, VideoDialect, VideoReply, VideoStep, VideoSubmission } from '../../video.ts'

const PLAIN: VideoRequest = {
  prompt: 'a red kite',
  seconds: undefined,
  size: undefined,
  ratio: undefined,
  resolution: undefined,
  firstFrame: undefined,
  lastFrame: undefined,
  referenceImages: [],
  referenceVideos: [],
  referenceAudios: [],
  negativePrompt: undefined,
  generateAudio: undefined,
  seed: undefined,
  watermark: undefined,
  promptExtend: undefined,
  extras: {},
}

export function order(changes: Partial<VideoRequest> = {}): VideoRequest {
  return { ...PLAIN, ...changes }
}

export const PNG: Extract<VideoMedia, { kind: 'bytes' }> = {
  kind: 'bytes',
  mediaType: 'image/png',
  bytes: new Uint8Array([0x89, 0x50, 0x4e, 0x47]),
}
/** The bytes of `PNG` in base64. */
export const PNG_BASE64 = 'iVBORw=='

export function at(url: string): Extract<VideoMedia, { kind: 'url' }> {
  return { kind: 'url', url }
}

export interface Order {
  readonly model: string
  readonly request?: Partial<VideoRequest>
  readonly baseUrl: string
  readonly fields?: Readonly<Record<string, string>>
}

export function submitted(dialect: VideoDialect, given: Order): VideoSubmission {
  const request = order(given.request)
  const { state: _, ...context } = contextOf(given, {})
  const declared = request.seconds === undefined ? undefined : Number(request.seconds)
  const seconds =
    declared === undefined
      ? dialect.defaultSeconds(context.forwardModelId, request)
      : Number.isNaN(declared)
        ? undefined
        : declared
  return dialect.submit({ ...context, request, seconds })
}

/** The JSON body of the create call. */
export function submittedBody(dialect: VideoDialect, given: Order): JsonObject {
  return bodyOf(submitted(dialect, given).request)
}

export function bodyOf(request: HttpRequest): JsonObject {
  const value: unknown = typeof request.body === 'string' ? JSON.parse(request.body) : undefined
  if (!isJsonObject(value)) throw new Error('the request has no JSON object for a body')
  return value
}

export function contextOf(given: Order, state: JsonObject): VideoContext {
  return {
    baseUrl: given.baseUrl,
    fields: given.fields ?? {},
    forwardModelId: forwardModelId(given.model),
    taskId: 'video_abc123',
    state,
  }
}

export function reply(body: JsonValue | undefined, status = 200): VideoReply {
  return { status, headers: {}, body }
}

/**
 * Runs a task from its create call on: the first answer is that of the create call, each further one that of the last
 * step's request. Returns the steps, and each request as `GET https://…` followed by its body.
 */
export function play(
  dialect: VideoDialect,
  given: Order,
  answers: readonly VideoReply[],
): { readonly steps: readonly VideoStep[]; readonly sent: readonly string[]; readonly last: VideoStep } {
  const first = submitted(dialect, given)
  const steps: VideoStep[] = []
  const sent = [lineOf(first.request)]
  let state = first.state
  for (const [index, answer] of answers.entries()) {
    const context = contextOf(given, state)
    const step = index === 0 ? dialect.accepted(answer, context) : dialect.step(answer, context)
    steps.push(step)
    if (step.kind === 'poll') sent.push(lineOf(step.request))
    // An unreadable answer is requested again, from the same state.
    if (step.kind !== 'unreadable') state = step.state
  }
  const last = steps.at(-1)
  if (last === undefined) throw new Error('no answer was played')
  return { steps, sent, last }
}

function lineOf({ method, url, body }: HttpRequest): string {
  return `${method} ${url}${method === 'GET' || body === undefined ? '' : ` ${textOf(body)}`}`
}

function textOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body)
}
