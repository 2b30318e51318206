/**
 * A process that leads a video task through its life, one step after the other, and says when it begins and when it has
 * done each. After the step it is told of it waits to be killed.
 */
import { exampleReserve } from '../../src/core/calls/examples.ts'
import { instanceId } from '../../src/core/ids.ts'
import type { VideoTaskPatch } from '../../src/core/video/task.ts'
import { callOf, exampleTask, settleTask } from '../../src/storage/conformance/videos.ts'
import { NOW } from '../../src/storage/conformance/suite.ts'
import { openStorage } from '../../src/storage/open.ts'

const [, , id = '', lastLine = '', dataDir = '', databaseUrl] = process.argv

const instance = instanceId(`instance of ${id}`)
const storage = await openStorage({
  databaseUrl,
  dataDir,
  secretKey: new Uint8Array(32).fill(1),
  instanceId: instance,
  now: () => NOW,
  log: { warn: () => {} },
})
await storage.calls.heartbeat(instance, NOW)

const patch = (changes: VideoTaskPatch) => storage.videos.patch(id, changes, instance)
const STEPS: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['reserve', () => storage.calls.reserve(exampleReserve(callOf(id), { instanceId: instance }))],
  [
    'intent',
    () =>
      storage.videos.create(
        exampleTask(id),
        { key: id, bodySha256: 'a'.repeat(64) },
        { instance, until: NOW + 30_000 },
      ),
  ],
  ['sent', () => patch({ phase: 'sent' })],
  ['running', () => patch({ phase: 'running', state: { id: 'upstream-1' }, status: 'in_progress' })],
  ['polled', () => patch({ polls: 1, progress: 50, dueAt: NOW + 5_000 })],
  ['fetching', () => patch({ phase: 'fetching', dueAt: NOW + 9_000 })],
  ['settled', () => storage.calls.settle(settleTask(id))],
]

for (const [name, step] of STEPS) {
  await say(`begin ${name}`)
  await step()
  await say(`done ${name}`)
}
await untilKilled()

async function say(line: string): Promise<void> {
  if (line !== lastLine) return
  process.stdout.write(`${line}\n`)
  // A step that has begun goes on while the parent kills; one that is done must have been the last.
  if (line.startsWith('done')) await untilKilled()
}

function untilKilled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 60_000))
}
