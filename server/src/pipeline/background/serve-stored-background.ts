/** Reading, cancelling and deleting a response that is, or was, made in the background. */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { JsonObject } from '../../core/json.ts'
import type { VideoTask } from '../../core/video/task.ts'
import type { StoredTurn } from '../../storage/stores/turns.ts'
import type { AuthenticatedCall, StoredRequest } from '../call.ts'
import { forwardStored, type ForwardStoredParts } from '../attempt/forward-stored.ts'
import type { Pipeline } from '../context.ts'
import type { StoredAnswer } from '../stored/stored-answer.ts'
import { openTask } from '../video/order/open-task.ts'
import { ANSWER_NAME } from './answer-name.ts'
import { cancelResponse, type CancelResponseParts } from './cancel-response.ts'
import { taskOfTurn, shownBackground } from './stored-background.ts'

export type ServeStoredBackgroundParts = CancelResponseParts & ForwardStoredParts & Pick<Pipeline, 'turns'>

interface Asked {
  readonly turn: StoredTurn
  readonly wanted: StoredRequest
}

export function isBackground({ content }: StoredTurn): boolean {
  return content.kind === 'upstream' && content.background !== undefined
}

export async function answerBackground(
  pipeline: ServeStoredBackgroundParts,
  call: AuthenticatedCall,
  { turn, wanted }: Asked,
): Promise<StoredAnswer> {
  const { content } = turn
  if (content.kind !== 'upstream' || content.background === undefined)
    throw new Error('this is not a background response')
  const { shown } = content.background
  const task = await taskOfTurn(pipeline, turn)
  if (task === undefined) throw new GatewayError(40400, { message: 'the response is not kept any more' })
  switch (wanted.what) {
    case 'response':
      refuseStream(wanted.query)
      return { status: 200, body: await shownBackground(pipeline, task, shown) }
    case 'input-items':
      return forwardStored(pipeline, call, { turn, pin: content, wanted })
    case 'cancel':
      return { status: 200, body: await shownBackground(pipeline, await ended(pipeline, task), shown) }
    case 'delete':
      return remove(pipeline, call, { turn, task, wanted })
  }
}

function refuseStream(query: string): void {
  const parameters = new URLSearchParams(query)
  if (parameters.get('stream') !== 'true' && !parameters.has('starting_after')) return
  throw new GatewayError(40000, {
    message:
      'stream: background responses are not streamed here: read it without stream until it is finished',
    details: { param: 'stream' },
  })
}

/**
 * Cancels a running response; a finished one is left unchanged. If the upstream takes long, the present state is
 * returned.
 */
async function ended(pipeline: ServeStoredBackgroundParts, task: VideoTask): Promise<VideoTask> {
  if (task.phase === 'ended') return task
  const cancelled = await cancelResponse(pipeline, openTask(task))
  const present = (await pipeline.storage.videos.read(task.id)) ?? task
  if (cancelled.kind === 'ended' || present.phase === 'ended') return present
  await pipeline.storage.videos.repoll(task.id, pipeline.now())
  const { reply } = cancelled
  if (reply !== undefined && reply.status >= 200 && reply.status <= 299) return present
  throw new GatewayError(50201, {
    message: 'the provider did not cancel the response; it goes on, ask again',
    ...(reply?.body === undefined ? {} : { upstreamBody: reply.body }),
  })
}

/** A running response is cancelled and charged first: without its record it could not be charged. */
async function remove(
  pipeline: ServeStoredBackgroundParts,
  call: AuthenticatedCall,
  { turn, task, wanted }: Asked & { readonly task: VideoTask },
): Promise<StoredAnswer> {
  const { content } = turn
  if (content.kind !== 'upstream') throw new Error('this is not a background response')
  const present = await ended(pipeline, task)
  if (present.phase !== 'ended')
    throw new GatewayError(40000, {
      status: 409,
      message: 'the response is still being cancelled: ask again',
    })
  const isOffline = present.state['offline'] === true
  const answer: StoredAnswer = isOffline
    ? { status: 200, body: deleted(wanted.id) }
    : await forwardStored(pipeline, call, { turn, pin: content, wanted })
  if (answer.status !== 200 && answer.status !== 404) return answer
  const name = present.state[ANSWER_NAME]
  if (typeof name === 'string') await pipeline.storage.turns.remove(turn.keyId, name)
  await pipeline.turns.remove(turn.keyId, wanted.id)
  // Upstreams delete background responses sooner than the gateway does.
  return answer.status === 404 ? { status: 200, body: deleted(wanted.id) } : answer
}

function deleted(id: string): JsonObject {
  return { id, object: 'response', deleted: true }
}
