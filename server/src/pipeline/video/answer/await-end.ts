import type { VideoTask, VideoTaskError } from '../../../core/video/task.ts'
import type { Pipeline } from '../../context.ts'
import type { PulsedStream } from '../../instance/pulse.ts'
import type { ClientReply } from '../../reply.ts'
import { gatewayFailure } from '../task/task-error.ts'

export type AwaitEndParts = Pick<Pipeline, 'pulse' | 'storage' | 'telemetry' | 'videos'>

/**
 * Waits for a task to end without using any resources meanwhile. undefined: the client has disconnected; the task
 * continues.
 * @param onChange called for every change except the end
 */
export async function awaitEnd(
  pipeline: AwaitEndParts,
  waited: { readonly task: VideoTask; readonly joined: boolean },
  reply: ClientReply,
  onChange: (task: VideoTask) => void = () => undefined,
): Promise<VideoTask | undefined> {
  const { task, joined } = waited
  if (task.phase === 'ended') return task
  const { waiting, clientsGone } = pipeline.videos
  const ended = await new Promise<VideoTask | undefined>((resolve) => {
    const leave = waiting.wait(task.id, (present) => {
      if (present === 'gone') finish({ ...task, phase: 'ended', status: 'failed', error: MADE_WAY })
      else if (present.phase === 'ended') finish(present)
      else onChange(present)
    })
    const stopped = (): void => finish({ ...task, phase: 'ended', status: 'failed', error: goesOn(task.id) })
    const waiter: PulsedStream = { onPulse: () => undefined, onStop: stopped }
    const finish = (end: VideoTask | undefined): void => {
      leave()
      pipeline.pulse.remove(waiter)
      reply.onGone(undefined)
      resolve(end)
    }
    pipeline.pulse.add(waiter)
    reply.onGone(() => finish(undefined))
    if (reply.gone) finish(undefined)
    else if (pipeline.pulse.stopping) stopped()
    // A task of another instance may have ended before this one began to listen.
    if (joined)
      pipeline.telemetry.background.track(refreshTask(pipeline, task.id), 'read a joined video task')
  })
  if (ended === undefined && !joined) {
    clientsGone.add(task.id)
    const leave = waiting.wait(task.id, (present) => {
      if (present !== 'gone' && present.phase !== 'ended') return
      clientsGone.delete(task.id)
      leave()
    })
  }
  return ended
}

/**
 * The record of an order that no vendor accepted is replaced by a repeated order, possibly before all waiting clients
 * have read its end.
 */
const MADE_WAY = gatewayFailure(50301, {
  message: 'the order failed, and its record is gone; nothing was charged, send it again',
})

/** The gateway is stopping, but any other instance continues the task. SDKs that repeat the POST find it again. */
function goesOn(id: string): VideoTaskError {
  return gatewayFailure(50301, {
    message: `the gateway is shutting down; the video goes on: read it as ${id}, or send the order again with the same Idempotency-Key`,
    retryAfterMs: RETRY_AFTER_MS,
  })
}

const RETRY_AFTER_MS = 2_000

/** Reads a task that is waited for and passes on what it found. */
export async function refreshTask(
  { storage, videos }: Pick<Pipeline, 'storage' | 'videos'>,
  id: string,
): Promise<void> {
  const present = await storage.videos.read(id)
  if (present === undefined) videos.waiting.notifyGone(id)
  else videos.waiting.tell(present)
}
