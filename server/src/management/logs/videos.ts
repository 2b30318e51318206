/** Tasks in the hands of an operator, videos and background responses: looked at, asked for again, given up. */
import { decodeDescription, describedRow } from '../../core/calls/ends/recover.ts'
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
  /** It had ended before, or just now by itself: nothing was changed. */
  | { readonly kind: 'ended'; readonly task: VideoTask }
  | { readonly kind: 'missing' }
  /** Its call is gone although it runs: no end can be booked, and `verify` tells of it. */
  | { readonly kind: 'without-call'; readonly task: VideoTask }

/** The instance that holds it, or any that is free, looks at it at once. Written down in the audit log. */
export async function repollVideo(storage: Storage, id: string, actor: Actor): Promise<VideoActing> {
  const known = await findRunning(storage, id)
  if (known.kind !== 'running') return known
  await record(storage, known.task, { actor, action: 'video.repoll', changes: [] })
  const asked = await storage.videos.repoll(id, actor.at)
  const left = (await storage.videos.read(id)) ?? known.task
  return { kind: asked ? 'done' : 'ended', task: left }
}

/**
 * Gives a running task up, written down in the audit log: hold, counts and slot go back, nothing is charged, and whoever waits for it is told so. The
 * record, the ledger and the log row are written together, so a task that ends by itself at the same time ends one way.
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
    // A video's request is counted with its video; an answer's was spent when it left.
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

/** Before the act: calls and videos are written in transactions of their own. */
async function record(
  storage: Pick<Storage, 'audit'>,
  { id }: VideoTask,
  { actor, action, changes }: Pick<AuditedAct, 'action' | 'changes'> & { readonly actor: Actor },
): Promise<void> {
  await storage.audit.record({ at: actor.at, actor, action, subject: id, changes })
}

/** A task as operators see it: how it stands and why, and nothing of what its customer ordered or got. */
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
    /** Of an ended task there is none. */
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
