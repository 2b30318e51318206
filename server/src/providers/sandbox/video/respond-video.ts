/**
 * The sandbox's video service. It keeps no state: a video's id holds everything about it, so that any instance gives the
 * same answer.
 */
import { encodeBase64Bytes } from '../../../core/canonical/media/base64.ts'
import type { HttpRequest } from '../../../core/http-request.ts'
import { isJsonObject, type JsonObject } from '../../../core/json.ts'
import type { VideoReply } from '../../video.ts'
import { sampleVideo } from './sample-video.ts'
import { SANDBOX_VIDEO_MODEL } from '../models.ts'
import { lengthOf, pictureOf, recordingNear } from './video-picture.ts'
import { type Ending, endingOf, scriptOf } from './video-script.ts'

export function respondVideo(request: HttpRequest, taskId: string): VideoReply {
  return request.method === 'POST' ? create(request, taskId) : poll(request)
}

interface Order {
  readonly ending: Ending
  readonly polls: number
  readonly everyMs: number
  readonly width: number
  readonly height: number
  readonly milliseconds: number
}

function create(request: HttpRequest, taskId: string): VideoReply {
  const body = parse(request.body)
  if (body === undefined) return refusal(400, 'invalid_json', 'The body is not a JSON object.')
  if (body['model'] !== SANDBOX_VIDEO_MODEL) {
    return refusal(404, 'model_not_found', `The sandbox makes videos with ${SANDBOX_VIDEO_MODEL} only.`)
  }
  const script = scriptOf(typeof body['prompt'] === 'string' ? body['prompt'] : '')
  const refused = REFUSALS[script.ending]
  if (refused !== undefined) return refused
  const picture = pictureOf({ size: body['size'], ratio: body['ratio'], resolution: body['resolution'] })
  const seconds = lengthOf(typeof body['seconds'] === 'number' ? body['seconds'] : undefined)
  const order: Order = { ...script, ...picture, milliseconds: Math.round(seconds * 1000) }
  return reply(200, { id: idOf(order, taskId), status: 'queued', poll_after_ms: script.everyMs })
}

function poll(request: HttpRequest): VideoReply {
  const [, path = '', question = ''] = /\/videos\/([^/?]+)\?poll=(\d+)$/.exec(request.url) ?? []
  const order = orderOf(path)
  if (order === undefined) return refusal(404, 'not_found', 'The sandbox made no such video.')
  const asked = Number(question)
  if (order.ending === 'garbled')
    return { status: 200, headers: { 'content-type': 'text/html' }, body: undefined }
  if (asked < order.polls) {
    const progress = Math.floor((100 * asked) / order.polls)
    const status = asked === 1 ? 'queued' : 'in_progress'
    return reply(200, { id: path, status, progress, poll_after_ms: order.everyMs })
  }
  return reply(200, { id: path, ...ended(order, path) })
}

function ended(order: Order, id: string): JsonObject {
  const failure = FAILURES[order.ending]
  if (failure !== undefined) return { status: 'failed', error: failure }
  const seconds = order.milliseconds / 1000
  const recording = recordingNear(order)
  const finished = {
    status: 'completed',
    progress: 100,
    seconds,
    size: `${recording.width}x${recording.height}`,
  }
  const lastsMs = LINKS_LAST_MS[order.ending]
  if (lastsMs !== undefined) {
    return { ...finished, url: `https://sandbox.invalid/videos/${id}.mp4`, lasts_ms: lastsMs }
  }
  return { ...finished, data: encodeBase64Bytes(sampleVideo(recording, seconds)), media_type: 'video/mp4' }
}

const LINKS_LAST_MS: Readonly<Partial<Record<Ending, number>>> = {
  link: 7 * 24 * 3_600_000,
  'short-link': 3_600_000,
}

/** Tasks that are accepted and fail. */
const FAILURES: Readonly<Partial<Record<Ending, JsonObject>>> = {
  fail: { code: 'render_failed', message: 'The sandbox was asked to fail.' },
  moderated: { code: 'moderation_blocked', message: 'The sandbox was asked to refuse the content.' },
  invalid: { code: 'invalid_input', message: 'The sandbox was asked to find fault with the input.' },
  quota: { code: 'insufficient_quota', message: 'The sandbox was asked to run out of money.' },
  expired: { code: 'expired', message: 'The sandbox was asked to let the task expire.' },
  cancelled: { code: 'cancelled', message: 'The sandbox was asked to cancel the task.' },
}

/** Tasks that are not accepted at all. */
const REFUSALS: Readonly<Partial<Record<Ending, VideoReply>>> = {
  refused: refusal(400, 'moderation_blocked', 'The sandbox was asked to refuse the prompt.'),
  busy: refusal(429, 'rate_limit_exceeded', 'The sandbox was asked to be busy.', { 'retry-after': '1' }),
  unpaid: refusal(402, 'insufficient_quota', 'The sandbox was asked to run out of money.'),
  locked: refusal(401, 'invalid_api_key', 'The sandbox was asked to refuse the key.'),
  broken: refusal(500, 'server_error', 'The sandbox was asked to break.'),
}

/** All fields of an order, separated by dots; the task's own id makes it unique. */
function idOf(order: Order, taskId: string): string {
  const { ending, polls, everyMs, width, height, milliseconds } = order
  return [
    'video',
    ending,
    polls,
    everyMs,
    `${width}x${height}`,
    milliseconds,
    taskId.replace(/[^\w-]/g, ''),
  ].join('.')
}

function orderOf(id: string): Order | undefined {
  const found = /^video\.([a-z-]+)\.(\d+)\.(\d+)\.(\d+)x(\d+)\.(\d+)\./.exec(id)
  if (found === null) return undefined
  const ending = endingOf(found[1] ?? '')
  if (ending === undefined) return undefined
  const [polls = 0, everyMs = 0, width = 0, height = 0, milliseconds = 0] = found.slice(2).map(Number)
  return { ending, polls, everyMs, width, height, milliseconds }
}

function parse(body: HttpRequest['body']): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body))
    return isJsonObject(parsed) ? parsed : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function refusal(
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): VideoReply {
  return reply(status, { error: { code, message } }, headers)
}

function reply(status: number, body: JsonObject, headers: Readonly<Record<string, string>> = {}): VideoReply {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body }
}
