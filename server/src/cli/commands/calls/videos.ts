import type { JsonObject } from '../../../core/json.ts'
import type { VideoTask } from '../../../core/video/task.ts'
import {
  eachOpenVideo,
  failVideo,
  repollVideo,
  type VideoActing,
  viewVideo,
} from '../../../management/logs/videos.ts'
import type { Storage } from '../../../storage/storage.ts'
import { commandLineActor } from '../../command-line-actor.ts'
import { type Console, jsonText, tableText } from '../../console.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { withStorage } from '../../with-storage.ts'
import type { OutputFlags } from '../accounts/accounts.ts'

/** Every task that has not ended, oldest first: a stuck one is at the top. */
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

export async function videosRepoll(io: Console, id: string, flags: OutputFlags): Promise<void> {
  const acting = await withStorage(io, 'refuse', (storage) => repollVideo(storage, id, commandLineActor(io)))
  const { dueAt } = taskOf(id, acting)
  if (flags.json === true) io.out(jsonText({ id, due_at: new Date(dueAt).toISOString() }))
  else io.err(`${id} is looked at next\n`)
}

export interface VideoFailFlags {
  readonly reason?: string
  readonly json?: boolean
}

export async function videosFail(io: Console, id: string, flags: VideoFailFlags): Promise<void> {
  const reason = flags.reason ?? 'given up'
  const actor = commandLineActor(io)
  taskOf(id, await withStorage(io, 'refuse', (storage) => failVideo(storage, id, { actor, reason })))
  if (flags.json === true) io.out(jsonText({ id, status: 'failed' }))
  else io.err(`${id} has failed; nothing was charged for it\n`)
}

/** The task that was changed; any other outcome ends the command with a message. */
function taskOf(id: string, acting: VideoActing): VideoTask {
  switch (acting.kind) {
    case 'done':
      return acting.task
    case 'missing':
      throw new CommandFailure('missing', `there is no video task ${id}: sluice videos shows those that run`)
    case 'ended':
      throw new CommandFailure('missing', `${id} does not run any more: it is ${acting.task.status}`)
    case 'without-call':
      throw new CommandFailure('failed', `the call of ${id} is not open any more: see sluice verify`)
  }
}

function chainText({ chainId, vendorCode }: VideoTask): string | undefined {
  return chainId === undefined ? undefined : `${chainId} ${vendorCode ?? ''}`.trim()
}

/** The two largest units: people look for tasks that are too old, programs use the JSON. */
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
  return { ...viewVideo(task), age_seconds: Math.round((at - task.createdAt) / 1_000) }
}
