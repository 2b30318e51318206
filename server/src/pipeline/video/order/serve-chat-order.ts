/**
 * A chat call to a video model: the same order over the same chains at the same price, answered in the chat's own form.
 */
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { finalChunk, progressChunk, videoCompletion } from '../../../core/video/chat-answer.ts'
import { ownErrorOfChat } from '../../../core/passthrough/breaks.ts'
import type { VideoTask, VideoTaskError } from '../../../core/video/task.ts'
import { decodeDetail } from '../../../core/video/task-detail.ts'
import type { ReceivedCall } from '../../call.ts'
import type { Pipeline } from '../../context.ts'
import { answerHeaders } from '../../headers.ts'
import type { PulsedStream } from '../../instance/pulse.ts'
import { refuse, type RefuseParts } from '../../stages/refuse.ts'
import type { ClientReply } from '../../reply.ts'
import { streamFailure } from '../../attempt/stream-failure.ts'
import { awaitEnd, type AwaitEndParts } from '../answer/await-end.ts'
import { orderOf } from './read-order.ts'
import { type TakenOrder, takeOrder, type TakeOrderParts } from './take-order.ts'
import { sendJson, sendTaskError, urlOf } from '../answer/task-answer.ts'
import type { VideoOrder } from '../video-call.ts'

export type ServeChatOrderParts = TakeOrderParts & RefuseParts & AwaitEndParts

export async function serveChatOrder(
  pipeline: ServeChatOrderParts,
  call: ReceivedCall,
  reply: ClientReply,
): Promise<void> {
  let order: VideoOrder
  let taken: TakenOrder
  try {
    order = await chatOrder(pipeline, call)
    taken = await takeOrder(pipeline, order)
  } catch (error) {
    await refuse(pipeline, call, error, reply)
    return
  }
  const stream = call.stream ? new ProgressStream(pipeline, reply, taken) : undefined
  const ended = await awaitEnd(pipeline, taken, reply, (task) => stream?.progress(task))
  stream?.leave()
  if (ended === undefined) return
  reply.setModel(ended.modelId)
  const url = urlOf(pipeline, ended)
  if (url === undefined) {
    const error = ended.error ?? UNKNOWN
    if (stream?.started === true) stream.fail(error, order.requestId)
    else sendTaskError(reply, order, error)
  } else if (stream === undefined) {
    sendJson(reply, 200, videoCompletion(ended, url), headersOf(taken, ended))
  } else stream.finish(ended, url)
}

const UNKNOWN: VideoTaskError = { status: 502, code: 'unknown', message: 'the video failed', body: undefined }

/** More than enough for a conversation that ends with a prompt and an image. */
const ORDER_VALUES_MAX = 10_000

async function chatOrder(pipeline: Pick<Pipeline, 'conversions'>, call: ReceivedCall): Promise<VideoOrder> {
  if (call.endpoint.protocol !== 'chat') {
    throw new GatewayError(40000, {
      message: `${call.modelId} is a video model: call it on /v1/videos, or on /v1/chat/completions`,
    })
  }
  if (call.scan.values > ORDER_VALUES_MAX) {
    throw new GatewayError(40000, {
      message: `a video order may contain at most ${ORDER_VALUES_MAX} members and items`,
    })
  }
  const { callId, requestId, at, address, ip, headers, key, account, catalogue } = call
  const { stream, user, body } = call
  return {
    ...(await orderOf(pipeline, { kind: 'chat', ...chunksOf(body) }, call)),
    stage: 'received',
    callId,
    requestId,
    at,
    endpoint: { path: call.endpoint.path, protocol: 'chat' },
    address,
    ip,
    headers,
    key,
    account,
    catalogue,
    modelId: call.modelId,
    stream,
    user,
    body,
  }
}

function chunksOf({ chunks, length }: ReceivedCall['body']): Pick<ReceivedCall['body'], 'chunks' | 'length'> {
  return { chunks, length }
}

function headersOf(taken: TakenOrder, task: VideoTask): Readonly<Record<string, string>> {
  return answerHeaders(taken, task.modelId, decodeDetail(task.detail).dropped)
}

const SIGN_OF_LIFE_MS = 15_000

/**
 * Progress as chunks. It begins when a vendor has accepted the task, so that a refused order can still answer with its
 * own status.
 */
class ProgressStream implements PulsedStream {
  started = false
  readonly #gateway: Pick<Pipeline, 'now' | 'pulse'>
  readonly #reply: ClientReply
  readonly #taken: TakenOrder
  #last: VideoTask | undefined
  #lastSentAt = 0

  constructor(pipeline: Pick<Pipeline, 'now' | 'pulse'>, reply: ClientReply, taken: TakenOrder) {
    this.#gateway = pipeline
    this.#reply = reply
    this.#taken = taken
  }

  progress(task: VideoTask): void {
    const known = this.#last
    const news = known?.progress !== task.progress || known.status !== task.status
    if ((task.phase !== 'running' && task.phase !== 'fetching') || !news) return
    this.#send(task)
  }

  onPulse(now: number): void {
    if (this.#last !== undefined && now - this.#lastSentAt >= SIGN_OF_LIFE_MS) this.#send(this.#last)
  }

  finish(task: VideoTask, url: string): void {
    if (!this.started) this.#send({ ...task, status: 'in_progress' })
    this.#write(JSON.stringify(finalChunk(task, url)))
    this.#write('[DONE]')
    this.#reply.end()
  }

  /**
   * After the stream has begun a failure is an error object, and no `[DONE]`
   * (docs/reference/contract.md#D-errors-30, #D-errors-31).
   */
  fail({ message, code, gatewayCode }: VideoTaskError, requestId: string): void {
    const error =
      gatewayCode === undefined
        ? { message, type: 'upstream_error', param: null, code }
        : ownErrorOfChat(streamFailure(gatewayCode, message, requestId))
    this.#write(JSON.stringify({ error }))
    this.#reply.end()
  }

  leave(): void {
    this.#gateway.pulse.remove(this)
  }

  #send(task: VideoTask): void {
    const place = this.started ? 'later' : 'first'
    if (!this.started) this.#start(task)
    this.#last = task
    this.#write(JSON.stringify(progressChunk(task, place)))
  }

  #start(task: VideoTask): void {
    this.started = true
    this.#reply.start({
      status: 200,
      headers: {
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache',
        'x-accel-buffering': 'no',
        ...headersOf(this.#taken, task),
      },
      contentLength: undefined,
    })
    this.#gateway.pulse.add(this)
  }

  #write(data: string): void {
    this.#lastSentAt = this.#gateway.now()
    this.#reply.write(`data: ${data}\n\n`)
  }
}
