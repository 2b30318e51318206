/** What both of Luma's APIs share: a generation, polled by its id. */
import type { HttpRequest } from '../../core/http-request.ts'
import type { JsonObject, JsonValue } from '../../core/json.ts'
import { below } from '../provider.ts'
import type { VideoContext, VideoFailure, VideoReply, VideoStep, VideoSubmit } from '../video.ts'
import { failedStep } from '../video-forms/failure.ts'
import { getJson, objectAt, textIn } from '../video-forms/json.ts'
import { stepOf, taskWord } from '../video-forms/progress.ts'
import { secondsValue } from '../video-forms/seconds.ts'

const POLL_MS = 3_000
/** An hour; not documented for the older API. */
const LINK_MS = 3_600_000

/**
 * Lengths are fixed words. Any other length cannot be expressed, so the vendor uses its default; a value that is not a
 * number is passed on for the vendor to decide.
 */
export function durationPlace(input: VideoSubmit, words: readonly string[]): JsonObject | undefined {
  const value = secondsValue(input)
  if (typeof value !== 'number') return { duration: value }
  const word = `${value}s`
  return words.includes(word) ? { duration: word } : undefined
}

export function readGeneration(
  reply: VideoReply,
  context: VideoContext,
  urlIn: (body: JsonObject) => string | undefined,
): VideoStep {
  const body = objectAt(reply.body)
  const id = textIn(context.state['id']) ?? textIn(body['id'])
  const failure = failureIn(body, reply.body)
  if (id === undefined) {
    if (failure !== undefined) return failedStep(failure, context.state)
    return { kind: 'unreadable', detail: 'an answer without a generation id' }
  }
  const url = urlIn(body)
  return stepOf({
    word: body['state'],
    result: url === undefined ? undefined : { kind: 'link', url, lastsMs: LINK_MS },
    failure,
    poll: generationRequest(context, id),
    afterMs: POLL_MS,
    state: { id },
  })
}

/** Requesting the task again returns a new link. */
export function renewed(context: VideoContext): HttpRequest | undefined {
  const id = textIn(context.state['id'])
  return id === undefined ? undefined : generationRequest(context, id)
}

function generationRequest({ baseUrl }: VideoContext, id: string): HttpRequest {
  return getJson(below(baseUrl, `/generations/${encodeURIComponent(id)}`))
}

function failureIn(body: JsonObject, whole: JsonValue | undefined): VideoFailure | undefined {
  const code = textIn(body['failure_code'])
  const message = textIn(body['failure_reason']) ?? textIn(body['detail'])
  if (code === undefined && message === undefined && taskWord(body['state']) !== 'failed') return undefined
  return {
    class: code === 'content_moderated' ? 'moderation' : 'upstream',
    code: code ?? 'failed',
    message: message ?? '',
    body: whole,
  }
}
