import type { JsonObject } from '../../core/json.ts'
import type { VideoTask } from '../../core/video/task.ts'
import { eachOpenVideo, failVideo } from '../../management/videos.ts'
import type { AuditedAct } from '../../storage/audit.ts'
import type { Storage } from '../../storage/storage.ts'
import { commandLineActor } from '../command-line-actor.ts'
import { type Console, jsonText, tableText } from '../console.ts'
import { CommandFailure } from '../exit-codes.ts'
import { withStorage } from '../with-storage.ts'
import type { OutputFlags } from './accounts.ts'

/** Every task that has not ended, oldest first: a stuck one stands on top. */
export async function videos(io: Console, flags: OutputFlags): Promise<void> {
  const tasks = await withStorage(io, 'refuse', readAll)
  const at = io.now()
  if (flags.json === true) {
    io.out(jsonText(tasks.map((task) => taskJson(task, at))))
    return
  }
  const rows = tasks.map((task) => [
    task.id,
    durationText(at - task.createdAt),
    task.modelId,
    chainText(task),
    task.phase,
    `${Math.round(task.progress)} %`,
    task.polls,
    task.dueAt > at ? `in ${durationText(task.dueAt - at)}` : 'now',
    task.lastAnswer,
  ])
  const head = ['ID', 'AGE', 'MODEL', 'CHAIN', 'PHASE', 'PROGRESS', 'POLLS', 'NEXT LOOK', 'LAST ANSWER']
  io.out(tableText(head, rows))
}

async function readAll(storage: Storage): Promise<readonly VideoTask[]> {
  const tasks: VideoTask[] = []
  for await (const task of eachOpenVideo(storage)) tasks.push(task)
  return tasks
}

/** The instance that holds it, or any that is free, looks at it at once. */
export async function videosRepoll(io: Console, id: string, flags: OutputFlags): Promise<void> {
  await withStorage(io, 'refuse', async (storage) => {
    await recordForRunning(io, storage, id, { action: 'video.repoll', changes: [] })
    if (!(await storage.videos.repoll(id, io.now()))) throw await notRunning(storage, id)
  })
  if (flags.json === true) io.out(jsonText({ id, due_at: new Date(io.now()).toISOString() }))
  else io.err(`${id} is looked at next\n`)
}

export interface VideoFailFlags {
  readonly reason?: string
  readonly json?: boolean
}

export async function videosFail(io: Console, id: string, flags: VideoFailFlags): Promise<void> {
  const reason = flags.reason ?? 'given up'
  await withStorage(io, 'refuse', async (storage) => {
    await recordForRunning(io, storage, id, {
      action: 'video.fail',
      changes: [
        { field: 'status', from: null, to: 'failed' },
        { field: 'reason', from: null, to: reason },
      ],
    })
    const failing = await failVideo(storage, id, { at: io.now(), reason })
    switch (failing.kind) {
      case 'failed':
        return
      case 'missing':
      case 'ended':
        throw await notRunning(storage, id)
      case 'without-call':
        throw new CommandFailure('failed', `the call of ${id} is not open any more: see sluice verify`)
    }
  })
  if (flags.json === true) io.out(jsonText({ id, status: 'failed' }))
  else io.err(`${id} has failed; nothing was charged for it\n`)
}

/** Before the act: calls and videos are written in transactions of their own. */
async function recordForRunning(
  io: Console,
  storage: Storage,
  id: string,
  { action, changes }: Pick<AuditedAct, 'action' | 'changes'>,
): Promise<void> {
  const task = await storage.videos.read(id)
  if (task === undefined || task.phase === 'ended') throw await notRunning(storage, id)
  const actor = commandLineActor(io)
  await storage.audit.record({ at: actor.at, actor, action, subject: id, changes })
}

async function notRunning(storage: Storage, id: string): Promise<CommandFailure> {
  const task = await storage.videos.read(id)
  return new CommandFailure(
    'missing',
    task === undefined
      ? `there is no video task ${id}: sluice videos shows those that run`
      : `${id} does not run any more: it is ${task.status}`,
  )
}

function chainText({ chainId, vendorCode }: VideoTask): string | undefined {
  return chainId === undefined ? undefined : `${chainId} ${vendorCode ?? ''}`.trim()
}

/** The two largest units: people look for what is too old, programs take the JSON. */
function durationText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  const units = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const
  const first = units.findIndex(([count]) => count > 0)
  if (first === -1) return '0 s'
  return units
    .slice(first, first + 2)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}

function taskJson(task: VideoTask, at: number): JsonObject {
  return {
    id: task.id,
    created_at: new Date(task.createdAt).toISOString(),
    age_seconds: Math.round((at - task.createdAt) / 1_000),
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
    next_look_at: new Date(task.dueAt).toISOString(),
    last_answer: task.lastAnswer ?? null,
    seconds: task.seconds,
    seconds_billed: task.secondsBilled,
  }
}
