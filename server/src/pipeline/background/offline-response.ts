/**
 * Background responses of the sandbox: the answer is produced at once and returned some seconds later, so that polling
 * can be tried.
 */
import type { HttpRequest } from '../../core/http-request.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import type { Dialect, OfflineRequest } from '../../providers/provider.ts'
import type { VideoReply } from '../../providers/video.ts'
import { parseJson } from '../attempt/classify.ts'
import { shownRunning } from './response-object.ts'

/** Long enough to cancel it by hand. */
const TAKES_MS = 5_000

/** The answer to the order, and the task's data; an error of the sandbox is passed on as it is. */
export function orderOffline(
  respond: NonNullable<Dialect['respond']>,
  request: OfflineRequest,
): { readonly reply: VideoReply; readonly state: JsonObject } {
  const answer = respond(request)
  const text = [...answer.chunks].map(({ data }) => data).join('')
  const body = parseJson(Buffer.from(text))
  const reply = { status: answer.status, headers: answer.headers, body }
  if (answer.status !== 200 || !isJsonObject(body)) return { reply, state: {} }
  const response = { ...body, background: true }
  return {
    reply: { ...reply, body: shownRunning(response, 'queued') },
    state: { made: { response, readyAt: request.at + TAKES_MS } },
  }
}

/** A poll or a cancellation: its body contains what was made. */
export function answerOffline(request: HttpRequest, { at }: { readonly at: number }): VideoReply {
  const made = typeof request.body === 'string' ? parseJson(Buffer.from(request.body)) : undefined
  const response = isJsonObject(made) && isJsonObject(made['response']) ? made['response'] : undefined
  if (!isJsonObject(made) || response === undefined) return reply(404, { error: { message: 'not found' } })
  const readyAt = Number(made['readyAt'])
  if (at >= readyAt) return reply(200, response)
  const running = shownRunning(response, 'in_progress')
  return request.method === 'POST' ? reply(200, { ...running, status: 'cancelled' }) : reply(200, running)
}

function reply(status: number, body: JsonValue): VideoReply {
  return { status, headers: { 'content-type': 'application/json' }, body }
}
