/** Tasks for operators, videos and background responses: listed, polled again, ended. */
import { describedRow } from '../../core/calls/ends/recover.ts'
import { decodeDescription } from '../../core/ledger/call-description.ts'
import { ERRORS } from '../../core/errors/catalogue.ts'
import type { VideoTask, VideoTaskError } from '../../core/video/task.ts'
import type { AuditedAct } from '../../storage/stores/audit.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Actor } from '../admin/acts.ts'

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

export type VideoActing =
  | { readonly kind: 'done'; readonly task: VideoTask }
  /** It had ended already: nothing was changed. */
  | { readonly kind: 'ended'; readonly task: VideoTask }
  | { readonly kind: 'missing' }
  /** It is running but its call is missing: its end cannot be booked, and `verify` reports it. */
  | { readonly kind: 'without-call'; readonly task: VideoTask }

/** The instance that holds it, or any free one, polls it at once. Recorded in the audit log. */
export async function repollVideo(storage: Storage, id: string, actor: Actor): Promise<VideoActing> {
  const known = await findRunning(storage, id)
  if (known.kind !== 'running') return known
  await record(storage, known.task, { actor, action: 'video.repoll', changes: [] })
  const asked = await storage.videos.repoll(id, actor.at)
  const left = (await storage.videos.read(id)) ?? known.task
  return { kind: asked ? 'done' : 'ended', task: left }
}

/**
 * Ends a running task, recorded in the audit log: hold, counts and slot are given back, nothing is charged, and waiting
 * clients are notified. The record, the ledger and the log row are written together, so a task that ends by itself at
 * the same time ends only once.
 */
export async function failVideo(
  storage: Storage,
  id: string,
  { actor, reason }: { readonly actor: Actor; readonly reason: string },
): Promise<VideoActing> {
  const known = await findRunning(storage, id)
  if (known.kind !== 'running') return known
  const { task } = known
  const { at } = actor
  await record(storage, task, {
    actor,
    action: 'video.fail',
    changes: [
      { field: 'status', from: task.status, to: 'failed' },
      { field: 'reason', from: null, to: reason },
    ],
  })
  const error = errorOf(task, reason)
  const { callId, keyId, accountId } = task
  await storage.calls.abandon({
    callId,
    keyId,
    accountId,
    at,
    // A video's request is counted with its video; a response's request was spent when it was sent.
    sent: task.kind === 'response' && task.phase !== 'intent',
    log: logRow(task, { at, status: error.status }),
    task: { id, patch: { status: 'failed', completedAt: at, dueAt: at, error, lastAnswer: reason } },
  })
  const left = (await storage.videos.read(id)) ?? task
  if (left.phase !== 'ended') return { kind: 'without-call', task: left }
  const byUs = left.status === 'failed' && left.completedAt === at && left.lastAnswer === reason
  return { kind: byUs ? 'done' : 'ended', task: left }
}

async function findRunning(
  storage: Pick<Storage, 'videos'>,
  id: string,
): Promise<
  | { readonly kind: 'running'; readonly task: VideoTask }
  | Extract<VideoActing, { readonly kind: 'missing' | 'ended' }>
> {
  const task = await storage.videos.read(id)
  if (task === undefined) return { kind: 'missing' }
  return { kind: task.phase === 'ended' ? 'ended' : 'running', task }
}

/** Recorded before the act: calls and videos are written in their own transactions. */
async function record(
  storage: Pick<Storage, 'audit'>,
  { id }: VideoTask,
  { actor, action, changes }: Pick<AuditedAct, 'action' | 'changes'> & { readonly actor: Actor },
): Promise<void> {
  await storage.audit.record({ at: actor.at, actor, action, subject: id, changes })
}

/** A task as operators see it: its state and the reason, without what its customer ordered or received. */
export function viewVideo(task: VideoTask) {
  return {
    id: task.id,
    kind: task.kind,
    created_at: new Date(task.createdAt).toISOString(),
    account_id: task.accountId,
    key_id: task.keyId,
    model: task.modelId,
    chain_id: task.chainId ?? null,
    vendor_code: task.vendorCode ?? null,
    byok: task.byok,
    status: task.status,
    phase: task.phase,
    progress: task.progress,
    polls: task.polls,
    failures_in_row: task.failuresInRow,
    /** null for an ended task. */
    next_look_at: task.phase === 'ended' ? null : new Date(task.dueAt).toISOString(),
    last_answer: task.lastAnswer ?? null,
    seconds: task.seconds,
    seconds_billed: task.secondsBilled,
    completed_at: task.completedAt === undefined ? null : new Date(task.completedAt).toISOString(),
    expires_at: new Date(task.expiresAt).toISOString(),
    error:
      task.error === undefined
        ? null
        : { status: task.error.status, code: task.error.code, message: task.error.message },
  }
}

const GIVEN_UP = 50201

function errorOf(task: VideoTask, reason: string): VideoTaskError {
  return {
    status: ERRORS[GIVEN_UP].status,
    code: String(GIVEN_UP),
    gatewayCode: GIVEN_UP,
    message: `the operator of this service ended the task: ${reason}`,
    body: undefined,
    // A vendor may be working on it: repeating the order must not create a second one.
    accepted: task.phase !== 'intent',
  }
}

function logRow(task: VideoTask, { at, status }: { readonly at: number; readonly status: number }) {
  const { callId, keyId, accountId, modelId, createdAt } = task
  const description = decodeDescription(JSON.stringify(task.detail['description'] ?? {}), {
    callId,
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
