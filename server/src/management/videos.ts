/** Video tasks in the hands of an operator: looked at, asked for again, given up. */
import { decodeDescription, describedRow } from '../core/calls/recover.ts'
import { ERRORS } from '../core/errors/catalogue.ts'
import type { VideoTask, VideoTaskError } from '../core/video/task.ts'
import type { Storage } from '../storage/storage.ts'

const PAGE_TASKS = 500

/** Tasks that have not ended, oldest first. */
export async function* eachOpenVideo(storage: Storage): AsyncGenerator<VideoTask> {
  let after: string | undefined
  for (;;) {
    const page = await storage.videos.list({ open: true, limit: PAGE_TASKS, after, order: 'asc' })
    yield* page
    if (page.length < PAGE_TASKS) return
    after = page.at(-1)?.id
  }
}

export type VideoFailing =
  | { readonly kind: 'failed'; readonly task: VideoTask }
  /** It had ended before, or just now by itself: nothing was changed. */
  | { readonly kind: 'ended'; readonly task: VideoTask }
  | { readonly kind: 'missing' }
  /** Its call is gone although it runs: no end can be booked, and `verify` tells of it. */
  | { readonly kind: 'without-call'; readonly task: VideoTask }

/**
 * Gives a running task up: hold, counts and slot go back, nothing is charged, and whoever waits for it is told so. The
 * record, the ledger and the log row are written together, so a task that ends by itself at the same time ends one way.
 */
export async function failVideo(
  storage: Storage,
  id: string,
  { at, reason }: { readonly at: number; readonly reason: string },
): Promise<VideoFailing> {
  const task = await storage.videos.read(id)
  if (task === undefined) return { kind: 'missing' }
  if (task.phase === 'ended') return { kind: 'ended', task }
  const error = errorOf(task, reason)
  const { callId, keyId, accountId } = task
  await storage.calls.abandon({
    callId,
    keyId,
    accountId,
    at,
    log: logRow(task, { at, status: error.status }),
    task: { id, patch: { status: 'failed', completedAt: at, dueAt: at, error, lastAnswer: reason } },
  })
  const left = (await storage.videos.read(id)) ?? task
  if (left.phase !== 'ended') return { kind: 'without-call', task: left }
  const byUs = left.status === 'failed' && left.completedAt === at && left.lastAnswer === reason
  return { kind: byUs ? 'failed' : 'ended', task: left }
}

const GIVEN_UP = 50201

function errorOf(task: VideoTask, reason: string): VideoTaskError {
  return {
    status: ERRORS[GIVEN_UP].status,
    code: String(GIVEN_UP),
    gatewayCode: GIVEN_UP,
    message: `the operator of this service ended the task: ${reason}`,
    body: undefined,
    // A vendor may be at work on it: the same order again must not begin a second one.
    accepted: task.phase !== 'intent',
  }
}

function logRow(task: VideoTask, { at, status }: { readonly at: number; readonly status: number }) {
  const { callId, keyId, accountId, modelId, createdAt } = task
  const description = decodeDescription(JSON.stringify(task.detail['description'] ?? {}), {
    callId,
    modelId,
    startedAt: createdAt,
  })
  return {
    ...describedRow({ callId, keyId, accountId, touchedAt: at }, description, undefined),
    model: task.chainId === undefined ? undefined : modelId,
    vendorCode: task.vendorCode,
    chainId: task.chainId,
    byok: task.byok,
    httpStatus: status,
    code: GIVEN_UP,
    ending: 'upstream-error',
  } as const
}
