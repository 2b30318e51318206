import { expect, test, vi } from 'vitest'
import {
  ACCOUNT,
  CHAIN,
  credits,
  exampleLog,
  exampleReserve,
  KEY,
  MODEL,
  VENDOR,
} from '../../core/calls/examples.ts'
import { accountId, callId, instanceId, keyId, modelId, type InstanceId } from '../../core/ids.ts'
import type { VideoTask } from '../../core/video/task.ts'
import { StorageConflict } from '../failures/conflict.ts'
import { InvalidCursor } from '../failures/invalid-cursor.ts'
import type { Storage } from '../storage.ts'
import { StorageUnavailable } from '../failures/unavailable.ts'
import {
  INSTANCE,
  NOW,
  openWithAccount,
  OTHER_KEY,
  settleTwoCredits,
  type StorageSuite,
  recover,
} from './suite.ts'
import type { Announcement } from '../announcement.ts'

const OTHER_INSTANCE = instanceId('instance_2')
const LEASE_UNTIL = NOW + 30_000
const BODY = 'a'.repeat(64)
const OTHER_BODY = 'b'.repeat(64)
const WAIT = { timeout: 60_000, interval: 20 }

/** A task whose intent was just written; `callOf(id)` is its call. */
export function exampleTask(id: string, changes: Partial<VideoTask> = {}): VideoTask {
  return {
    id,
    kind: 'video',
    keyId: KEY,
    accountId: ACCOUNT,
    callId: callOf(id),
    status: 'queued',
    phase: 'intent',
    modelId: MODEL,
    chainId: undefined,
    vendorCode: undefined,
    byok: false,
    state: {},
    next: undefined,
    dueAt: NOW,
    polls: 0,
    failuresInRow: 0,
    progress: 0,
    createdAt: NOW,
    completedAt: undefined,
    expiresAt: NOW + 86_400_000,
    seconds: '4',
    secondsBilled: 4,
    secondsProduced: undefined,
    size: '1280x720',
    prompt: 'a cat on the moon',
    url: undefined,
    blob: undefined,
    blobBytes: undefined,
    blobSha256: undefined,
    error: undefined,
    lastAnswer: undefined,
    detail: {},
    ...changes,
  }
}

export const callOf = (id: string) => callId(`call_of_${id}`)

/** Every field is set, to values that no engine changes. */
const FULL: Partial<VideoTask> = {
  status: 'in_progress',
  phase: 'running',
  chainId: CHAIN,
  vendorCode: VENDOR,
  byok: true,
  state: { id: 'upstream-1', nested: { list: [1, null, 'x'] } },
  next: { method: 'GET', url: 'https://vendor.example/v1/tasks/1' },
  dueAt: NOW + 5_000,
  polls: 3,
  failuresInRow: 1,
  progress: 33.3,
  completedAt: NOW + 9_000,
  seconds: 'five \0 or so',
  secondsBilled: 7.5,
  secondsProduced: 7.52,
  size: '720x1280',
  prompt: 'a cat \0 \ud800 \u{1f408}',
  url: 'https://vendor.example/video.mp4?a=1&b="2"',
  blob: 'videos/1.mp4',
  blobBytes: 5_000_000_000,
  blobSha256: 'c'.repeat(64),
  error: { status: 400, code: 'moderation', message: 'refused', body: { error: ['x'] } },
  lastAnswer: 'HTTP 200 processing',
  detail: { attempts: [], dropped: ['seed'] },
}

export interface CreateForTest {
  readonly task?: Partial<VideoTask>
  readonly idempotency?: { readonly key: string; readonly bodySha256: string }
  readonly instance?: InstanceId
}

/** Reserves the task's call and writes the task, as the request pipeline does. */
export async function createTask(
  storage: Storage,
  id: string,
  { task, idempotency, instance = INSTANCE }: CreateForTest = {},
) {
  await storage.calls.reserve(exampleReserve(callOf(id), { instanceId: instance }))
  return storage.videos.create(exampleTask(id, task), idempotency, { instance, until: LEASE_UNTIL })
}

export function describeVideos(suite: StorageSuite): void {
  test('a task comes back as it was written, to its own key only', async () => {
    const { storage } = await openWithAccount(suite)
    const task = exampleTask('video_1', FULL)
    expect(await createTask(storage, 'video_1', { task: FULL })).toEqual({ kind: 'created' })
    await createTask(storage, 'video_2')
    expect(await storage.videos.find('video_1', KEY)).toEqual(task)
    expect(await storage.videos.read('video_1')).toEqual(task)
    expect(await storage.videos.read('video_2')).toEqual(exampleTask('video_2'))
    expect(await storage.videos.find('video_1', OTHER_KEY)).toBeUndefined()
    expect(await storage.videos.read('video_3')).toBeUndefined()
  })

  test('parallel creations with one idempotency key make one task, which the others join', async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open({ instanceId: OTHER_INSTANCE })
    const idempotency = { key: 'order \0 1', bodySha256: BODY }
    const creations = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        createTask(index % 2 === 0 ? storage : other, `video_${index}`, { idempotency }),
      ),
    )
    const joined = creations.flatMap((creation) => (creation.kind === 'joined' ? [creation.task.id] : []))
    expect(creations.filter(({ kind }) => kind === 'created')).toHaveLength(1)
    expect(joined).toHaveLength(9)
    const kept = await storage.videos.list({ limit: 20, after: undefined, order: 'desc' })
    expect(kept.map(({ id }) => id)).toEqual([joined[0]])
    expect(new Set(joined).size).toBe(1)
  })

  test('an idempotency key with another body is told apart, and holds for one API key only', async () => {
    const { storage } = await openWithAccount(suite)
    const idempotency = { key: 'k', bodySha256: BODY }
    await createTask(storage, 'video_1', { idempotency })
    const otherBody = { key: 'k', bodySha256: OTHER_BODY }
    expect(await createTask(storage, 'video_2', { idempotency: otherBody })).toEqual({ kind: 'other-body' })
    expect(await createTask(storage, 'video_3', { idempotency, task: { keyId: OTHER_KEY } })).toEqual({
      kind: 'created',
    })
    expect(await storage.videos.findByIdempotency(KEY, otherBody)).toEqual({ kind: 'other-body' })
    expect(await storage.videos.findByIdempotency(KEY, { key: 'K', bodySha256: BODY })).toBeUndefined()
    expect(await storage.videos.findByIdempotency(keyId('nobody'), idempotency)).toBeUndefined()
    expect(await storage.videos.findByIdempotency(KEY, idempotency)).toEqual({
      kind: 'joined',
      task: exampleTask('video_1'),
    })
  })

  test('the newest task of a body is found, of its own API key and not of long ago', async () => {
    const { storage } = await openWithAccount(suite)
    const written = (id: string, at: number, key: string, bodySha256 = BODY) =>
      createTask(storage, id, { task: { createdAt: at }, idempotency: { key, bodySha256 } })
    await written('video_1', NOW, 'a')
    await written('video_2', NOW + 5, 'b')
    await written('video_3', NOW + 9, 'c', OTHER_BODY)
    const found = async (since: number, key = KEY) =>
      (await storage.videos.findByBody(key, { bodySha256: BODY, since }))?.id
    expect(await found(NOW)).toBe('video_2')
    expect(await found(NOW + 6)).toBeUndefined()
    expect(await found(NOW, OTHER_KEY)).toBeUndefined()
  })

  test('a creation whose answer was lost may be repeated; another task under its id may not', async () => {
    const { storage } = await openWithAccount(suite)
    const idempotency = { key: 'k', bodySha256: BODY }
    const lease = { instance: INSTANCE, until: LEASE_UNTIL }
    await createTask(storage, 'video_1', { idempotency })
    expect(await storage.videos.create(exampleTask('video_1'), idempotency, lease)).toEqual({
      kind: 'created',
    })
    await storage.calls.reserve(exampleReserve('call_2'))
    const twin = exampleTask('video_1', { callId: callId('call_2') })
    await expect(storage.videos.create(twin, undefined, lease)).rejects.toThrow(StorageConflict)
  })

  test('a task whose call was taken away from its instance is not written', async () => {
    const { storage } = await openWithAccount(suite)
    const lease = { instance: INSTANCE, until: LEASE_UNTIL }
    await expect(storage.videos.create(exampleTask('video_1'), undefined, lease)).rejects.toThrow(
      StorageUnavailable,
    )
    await storage.calls.reserve(exampleReserve(callOf('video_1'), { instanceId: OTHER_INSTANCE }))
    await expect(storage.videos.create(exampleTask('video_1'), undefined, lease)).rejects.toThrow(
      StorageUnavailable,
    )
    expect(await storage.videos.read('video_1')).toBeUndefined()
  })

  test('a patch changes what it names, clears what it names as undefined, and needs the lease', async () => {
    const { storage } = await openWithAccount(suite)
    await createTask(storage, 'video_1', { task: FULL })
    const patch = { status: 'queued', progress: 50, next: undefined, lastAnswer: undefined } as const
    expect(await storage.videos.patch('video_1', patch, OTHER_INSTANCE)).toBe(false)
    expect(await storage.videos.read('video_1')).toEqual(exampleTask('video_1', FULL))
    expect(await storage.videos.patch('video_1', patch, INSTANCE)).toBe(true)
    expect(await storage.videos.read('video_1')).toEqual(exampleTask('video_1', { ...FULL, ...patch }))
    expect(await storage.videos.patch('video_1', {}, INSTANCE)).toBe(true)
    expect(await storage.videos.patch('video_2', patch, INSTANCE)).toBe(false)
    await expect(storage.videos.patch('video_1', { phase: 'ended' }, INSTANCE)).rejects.toThrow('settle')
  })

  test('every process hears of a patch that a client may see, and of no other', async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open({ instanceId: OTHER_INSTANCE })
    const here: Announcement[] = []
    const there: Announcement[] = []
    storage.subscribe((change) => here.push(change))
    other.subscribe((change) => there.push(change))
    await createTask(storage, 'video_1')
    await storage.videos.patch('video_1', { dueAt: NOW + 1, polls: 1, lastAnswer: 'waiting' }, INSTANCE)
    await storage.videos.patch('video_1', { progress: 1 }, OTHER_INSTANCE)
    await storage.videos.patch('video_1', { progress: 1 }, INSTANCE)
    expect(here).toEqual([{ kind: 'video', id: 'video_1' }])
    await vi.waitFor(() => expect(there).toEqual([{ kind: 'video', id: 'video_1' }]), WAIT)
  })

  describeLeases(suite)
  describeEnds(suite)
  describeLists(suite)
}

function describeLeases(suite: StorageSuite): void {
  const lease = (storage: Storage, instance: InstanceId, at: number, limit = 10) =>
    storage.videos.lease({ instance, at, until: at + 30_000, limit })
  const ids = (tasks: readonly VideoTask[]) => tasks.map(({ id }) => id)

  test('due tasks are leased in order of time, at most as many as asked for', async () => {
    const { storage } = await openWithAccount(suite)
    for (const [index, dueAt] of [3, 1, 2, 9].entries()) {
      await createTask(storage, `video_${index}`, { task: { dueAt: NOW + dueAt } })
    }
    expect(ids(await lease(storage, INSTANCE, NOW))).toEqual([])
    expect(ids(await lease(storage, INSTANCE, NOW + 5, 2))).toEqual(['video_1', 'video_2'])
    expect(ids(await lease(storage, INSTANCE, NOW + 5))).toEqual(['video_1', 'video_2', 'video_0'])
  })

  test('another instance gets a task when its lease has run out, and the former holder may not patch it', async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open({ instanceId: OTHER_INSTANCE })
    await createTask(storage, 'video_1')
    expect(await lease(other, OTHER_INSTANCE, LEASE_UNTIL - 1)).toEqual([])
    expect(await lease(other, OTHER_INSTANCE, LEASE_UNTIL)).toEqual([exampleTask('video_1')])
    expect(await storage.videos.patch('video_1', { polls: 1 }, INSTANCE)).toBe(false)
    expect(await other.videos.patch('video_1', { polls: 1 }, OTHER_INSTANCE)).toBe(true)
  })

  test('what an instance releases is free at once', async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open({ instanceId: OTHER_INSTANCE })
    await createTask(storage, 'video_1')
    await other.videos.release(OTHER_INSTANCE)
    expect(await lease(other, OTHER_INSTANCE, NOW + 1)).toEqual([])
    await storage.videos.release(INSTANCE)
    expect(ids(await lease(other, OTHER_INSTANCE, NOW + 1))).toEqual(['video_1'])
  })

  test('what a process held that is known to be gone is free at once', async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open({ instanceId: OTHER_INSTANCE })
    await storage.calls.heartbeat(INSTANCE, NOW)
    await createTask(storage, 'video_1')
    expect(await lease(other, OTHER_INSTANCE, NOW + 1)).toEqual([])
    await storage.calls.heartbeat(INSTANCE, 0)
    expect(ids(await lease(other, OTHER_INSTANCE, NOW + 1))).toEqual(['video_1'])
  })

  test("a leased task's call moves along, so that the new instance's heartbeat renews its slot", async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open({ instanceId: OTHER_INSTANCE })
    await storage.keys.patch(KEY, { policy: { concurrency: 1, windows: [] } })
    await createTask(storage, 'video_1')
    await lease(other, OTHER_INSTANCE, LEASE_UNTIL)
    const at = NOW + 650_000
    await other.calls.heartbeat(OTHER_INSTANCE, at - 5_000)
    await recover(storage, { at, deadBefore: at - 30_000, leakedBefore: at - 600_000 })
    expect(await storage.calls.reserve(exampleReserve('call_2', { at }))).toMatchObject({
      kind: 'refused',
      refusal: { code: 42901 },
    })
  })

  test('two instances that lease at once never hold the same task', async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open({ instanceId: OTHER_INSTANCE })
    const all = Array.from({ length: 40 }, (_, index) => `video_${index}`)
    await Promise.all(all.map((id) => createTask(storage, id)))
    const rounds = Array.from({ length: 8 }, (_, round) =>
      round % 2 === 0
        ? lease(storage, INSTANCE, LEASE_UNTIL, 15)
        : lease(other, OTHER_INSTANCE, LEASE_UNTIL, 15),
    )
    const leased = await Promise.all(rounds)
    const mine = new Set(leased.filter((_, round) => round % 2 === 0).flatMap(ids))
    const theirs = new Set(leased.filter((_, round) => round % 2 === 1).flatMap(ids))
    expect([...mine].filter((id) => theirs.has(id))).toEqual([])
    const later = [
      ...(await lease(storage, INSTANCE, LEASE_UNTIL, 99)),
      ...(await lease(other, OTHER_INSTANCE, LEASE_UNTIL, 99)),
    ]
    expect(ids(later).sort()).toEqual([...all].sort())
  })

  test('the next due time is that of the earliest open task, after the lease where another holds it', async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open({ instanceId: OTHER_INSTANCE })
    expect(await storage.videos.nextDue()).toBeUndefined()
    await createTask(storage, 'video_1', { task: { dueAt: NOW + 7 } })
    await createTask(storage, 'video_2', { task: { dueAt: NOW + 5 } })
    expect(await storage.videos.nextDue()).toBe(NOW + 5)
    expect(await other.videos.nextDue()).toBe(LEASE_UNTIL)
    await storage.videos.patch('video_2', { dueAt: NOW + 9 }, INSTANCE)
    expect(await storage.videos.nextDue()).toBe(NOW + 7)
  })

  test('an operator brings a poll forward, whoever holds the task', async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open({ instanceId: OTHER_INSTANCE })
    await createTask(storage, 'video_1', { task: { dueAt: NOW + 60_000 } })
    const heard: Announcement[] = []
    other.subscribe((change) => heard.push(change))
    expect(await other.videos.repoll('video_1', NOW)).toBe(true)
    expect(heard).toEqual([{ kind: 'video', id: 'video_1' }])
    expect(await storage.videos.nextDue()).toBe(NOW)
    expect(await other.videos.repoll('video_1', NOW + 5)).toBe(true)
    expect(await storage.videos.nextDue()).toBe(NOW)
    expect(await other.videos.repoll('video_2', NOW)).toBe(false)
  })
}

/** The record when the video is finished. */
const DONE = {
  status: 'completed',
  progress: 100,
  completedAt: NOW + 60_000,
  secondsProduced: 4.02,
  url: 'https://vendor.example/1.mp4',
  lastAnswer: undefined,
} as const

export const settleTask = (id: string, task = id) =>
  settleTwoCredits(callOf(id), { task: { id: task, patch: DONE } })

const abandonTask = (id: string) => ({
  callId: callOf(id),
  keyId: KEY,
  accountId: ACCOUNT,
  at: NOW,
  sent: true,
  log: exampleLog(callOf(id), { httpStatus: 400 }),
  task: { id, patch: { status: 'failed', error: FAILURE } } as const,
})

const FAILURE = { status: 400, code: 'moderation', message: 'refused', body: null }

function describeEnds(suite: StorageSuite): void {
  test('a task ends in the transaction of its charge, and every process hears of it', async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open({ instanceId: OTHER_INSTANCE })
    const here: Announcement[] = []
    const there: Announcement[] = []
    storage.subscribe((change) => here.push(change))
    other.subscribe((change) => there.push(change))
    await createTask(storage, 'video_1', { task: FULL })
    expect(await storage.calls.settle(settleTask('video_1'))).toMatchObject({ first: true })
    expect(await other.videos.read('video_1')).toEqual(
      exampleTask('video_1', { ...FULL, ...DONE, phase: 'ended', next: undefined }),
    )
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(998), held: 0n })
    expect(here).toEqual([{ kind: 'video', id: 'video_1' }])
    await vi.waitFor(() => expect(there).toEqual([{ kind: 'video', id: 'video_1' }]), WAIT)
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('a task that failed ends with its call given back', async () => {
    const { storage } = await openWithAccount(suite)
    await createTask(storage, 'video_1')
    await storage.calls.abandon(abandonTask('video_1'))
    expect(await storage.videos.read('video_1')).toMatchObject({
      phase: 'ended',
      status: 'failed',
      error: FAILURE,
    })
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(1000), held: 0n })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('a second end changes nothing, neither money nor the task', async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open({ instanceId: OTHER_INSTANCE })
    await createTask(storage, 'video_1')
    await storage.calls.settle(settleTask('video_1'))
    const ended = await storage.videos.read('video_1')
    expect(await storage.calls.settle(settleTask('video_1'))).toMatchObject({ first: false })
    await other.calls.abandon(abandonTask('video_1'))
    expect(await other.calls.settle(settleTask('video_1'))).toMatchObject({ first: false })
    expect(await storage.videos.read('video_1')).toEqual(ended)
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(998), held: 0n })
  })

  test('a charge stands where the task is not there any more', async () => {
    const { storage } = await openWithAccount(suite)
    await createTask(storage, 'video_1')
    expect(await storage.calls.settle(settleTask('video_1', 'video_removed'))).toMatchObject({ first: true })
    expect(await storage.accounts.find(ACCOUNT)).toMatchObject({ credits: credits(998), held: 0n })
  })

  test('a task that has ended is neither leased nor patched nor polled again', async () => {
    const { storage } = await openWithAccount(suite)
    await createTask(storage, 'video_1')
    await storage.calls.settle(settleTask('video_1'))
    const at = LEASE_UNTIL + 1
    expect(await storage.videos.lease({ instance: INSTANCE, at, until: at + 1, limit: 9 })).toEqual([])
    expect(await storage.videos.patch('video_1', { progress: 1 }, INSTANCE)).toBe(false)
    expect(await storage.videos.repoll('video_1', at)).toBe(false)
    expect(await storage.videos.nextDue()).toBeUndefined()
    const open = { limit: 9, after: undefined, order: 'desc', open: true } as const
    expect(await storage.videos.list(open)).toEqual([])
  })

  test('ended tasks are removed by their own key; expired ones are told with their blobs, and forgotten', async () => {
    const { storage } = await openWithAccount(suite)
    const idempotency = { key: 'k', bodySha256: BODY }
    for (const id of ['video_1', 'video_2', 'video_3']) {
      const task = {
        expiresAt: NOW + Number(id.slice(-1)),
        blob: id === 'video_3' ? undefined : `blob_of_${id}`,
      }
      await createTask(storage, id, { task, ...(id === 'video_1' && { idempotency }) })
      await storage.calls.settle(settleTask(id))
    }
    expect(await storage.videos.remove('video_1', OTHER_KEY)).toBe(false)
    expect(await storage.videos.remove('video_1', KEY)).toBe(true)
    expect(await storage.videos.remove('video_1', KEY)).toBe(false)
    expect(await storage.videos.findByIdempotency(KEY, idempotency)).toBeUndefined()
    expect(await storage.videos.expired(NOW + 2, 9)).toEqual([])
    const second = { id: 'video_2', blob: 'blob_of_video_2' }
    expect(await storage.videos.expired(NOW + 9, 1)).toEqual([second])
    expect(await storage.videos.expired(NOW + 9, 9)).toEqual([second, { id: 'video_3', blob: undefined }])
    await storage.videos.forget(['video_2', 'video_3'], NOW + 3)
    expect(await storage.videos.expired(NOW + 9, 9)).toEqual([{ id: 'video_3', blob: undefined }])
    await storage.videos.forget([], NOW + 9)
    await storage.videos.forget(['video_2', 'video_3'], NOW + 9)
    expect(await storage.videos.expired(NOW + 9, 9)).toEqual([])
    expect(await storage.videos.read('video_3')).toBeUndefined()
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('recovery ends a call whose task was never written, and leaves that of a living task to the next poller', async () => {
    const { database, storage } = await openWithAccount(suite)
    const other = await database.open({ instanceId: OTHER_INSTANCE })
    const at = NOW + 1_200_000
    await storage.calls.heartbeat(INSTANCE, NOW)
    await createTask(storage, 'video_1')
    await storage.calls.reserve(exampleReserve('call_without_task'))
    const bounds = { at, deadBefore: at - 30_000, leakedBefore: at - 600_000 }
    expect(await recover(other, bounds)).toBe(1)
    expect(await storage.calls.settle(settleTwoCredits('call_without_task'))).toMatchObject({ late: true })
    expect(await recover(other, bounds)).toBe(0)
    expect(await other.ledger.verify()).toEqual([])
    const leased = await other.videos.lease({ instance: OTHER_INSTANCE, at, until: at + 1, limit: 9 })
    expect(leased.map(({ id }) => id)).toEqual(['video_1'])
    expect(await other.calls.settle(settleTask('video_1'))).toMatchObject({ first: true })
    expect(await recover(other, bounds)).toBe(0)
    expect(await other.ledger.verify()).toEqual([])
  })

  test('the verification tells of a task without its call, and of an ended one that has one', async () => {
    const { database, storage } = await openWithAccount(suite)
    await createTask(storage, 'video_1')
    await createTask(storage, 'video_2')
    await database.execute("update video_tasks set phase = 'ended' where id = 'video_1'")
    await database.execute("update video_tasks set call_id = 'call_unknown' where id = 'video_2'")
    expect(await storage.ledger.verify()).toEqual([
      {
        subject: 'video:video_1',
        what: 'open call of a task that has ended',
        expected: 'none',
        found: 'one',
      },
      { subject: 'video:video_2', what: 'open call of a task that runs', expected: 'one', found: 'none' },
    ])
  })
}

function describeLists(suite: StorageSuite): void {
  test('lists go newest first or oldest first, page by page, without gaps where times are equal', async () => {
    const { storage } = await openWithAccount(suite)
    for (const [index, createdAt] of [NOW + 1, NOW, NOW, NOW, NOW + 2].entries()) {
      await createTask(storage, `video_${index}`, { task: { createdAt } })
    }
    await createTask(storage, 'video_of_other', { task: { keyId: OTHER_KEY } })
    for (const order of ['asc', 'desc'] as const) {
      const seen: string[] = []
      for (let after: string | undefined; ; after = seen.at(-1)) {
        const page = await storage.videos.list({ keyId: KEY, limit: 2, after, order })
        seen.push(...page.map(({ id }) => id))
        if (page.length < 2) break
      }
      const ascending = ['video_1', 'video_2', 'video_3', 'video_0', 'video_4']
      expect(seen).toEqual(order === 'asc' ? ascending : ascending.reverse())
    }
  })

  test('a page after a task of another key, or of none, is refused', async () => {
    const { storage } = await openWithAccount(suite)
    await createTask(storage, 'video_of_other', { task: { keyId: OTHER_KEY } })
    const page = (after: string) => storage.videos.list({ keyId: KEY, limit: 2, after, order: 'desc' })
    await expect(page('video_of_other')).rejects.toThrow(InvalidCursor)
    await expect(page('video_unknown')).rejects.toThrow(InvalidCursor)
  })

  test('lists keep to the account, model, chain and status they are asked for, together', async () => {
    const { storage } = await openWithAccount(suite)
    const made = { modelId: modelId('other'), chainId: CHAIN, status: 'in_progress' } as const
    await createTask(storage, 'video_1')
    await createTask(storage, 'video_2', { task: made })
    const found = async (filter: object) => {
      const page = await storage.videos.list({ ...filter, limit: 9, after: undefined, order: 'asc' })
      return page.map(({ id }) => id)
    }
    expect(await found({ accountId: ACCOUNT })).toEqual(['video_1', 'video_2'])
    expect(await found({ accountId: accountId('account_unknown') })).toEqual([])
    expect(await found({ modelId: MODEL })).toEqual(['video_1'])
    expect(await found({ chainId: CHAIN })).toEqual(['video_2'])
    expect(await found({ status: 'queued' })).toEqual(['video_1'])
    expect(await found({ ...made, accountId: ACCOUNT, open: true })).toEqual(['video_2'])
    expect(await found({ ...made, modelId: MODEL })).toEqual([])
  })

  test('a response in the background is leased and ended like a video, and is none', async () => {
    const { storage } = await openWithAccount(suite)
    await createTask(storage, 'video_1')
    await createTask(storage, 'response_1', { task: { kind: 'response' } })
    expect(await storage.videos.find('response_1', KEY)).toBeUndefined()
    expect(await storage.videos.read('response_1')).toMatchObject({ kind: 'response' })
    const listed = async (filter: object) => {
      const page = await storage.videos.list({ ...filter, limit: 9, after: undefined, order: 'asc' })
      return page.map(({ id }) => id)
    }
    expect(await listed({ kind: 'video' })).toEqual(['video_1'])
    expect(await listed({})).toEqual(['response_1', 'video_1'])
    const leased = await storage.videos.lease({
      instance: INSTANCE,
      at: NOW,
      until: LEASE_UNTIL,
      limit: 9,
    })
    expect(leased.map(({ kind }) => kind).sort()).toEqual(['response', 'video'])
  })

  test('what has expired is left out where the list is asked to', async () => {
    const { storage } = await openWithAccount(suite)
    await createTask(storage, 'video_1', { task: { expiresAt: NOW } })
    await createTask(storage, 'video_2', { task: { expiresAt: NOW + 1 } })
    const page = await storage.videos.list({ limit: 9, after: undefined, order: 'asc', notExpiredAt: NOW })
    expect(page.map(({ id }) => id)).toEqual(['video_2'])
  })

  test('a running task is neither removed nor expired', async () => {
    const { storage } = await openWithAccount(suite)
    await createTask(storage, 'video_1')
    expect(await storage.videos.remove('video_1', KEY)).toBe(false)
    expect(await storage.videos.expired(NOW + 90_000_000, 10)).toEqual([])
    await storage.videos.forget(['video_1'], NOW + 90_000_000)
    expect(await storage.videos.read('video_1')).toEqual(exampleTask('video_1'))
  })
}
