import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTestStore, type TestStore } from '../../../test/management/open-store.ts'
import { expireVideos, startHousekeeping } from './housekeeping.ts'
import { createAccount, exampleApiKey, INSTANCE, NOW } from '../../storage/conformance/suite.ts'
import { createTask, settleTask } from '../../storage/conformance/videos.ts'
import type { CallStore } from '../../storage/stores/calls.ts'
import type { Log } from '../../telemetry/log.ts'
import { createTelemetry } from '../../telemetry/telemetry.ts'

const AFTER = NOW + 90_000_000

describe.each(['SQLite', 'PostgreSQL'] as const)('expired videos on %s', (engine) => {
  let store: TestStore
  let stored: Set<string>
  let warnings: string[]
  beforeEach(async () => {
    warnings = []
    store = await openTestStore(engine)
    await createAccount(store.storage)
    await store.storage.keys.create(exampleApiKey())
    stored = new Set()
    for (const id of ['video_1', 'video_2', 'video_3']) {
      const blob = `blob_of_${id}`
      stored.add(blob)
      await createTask(store.storage, id, { task: { expiresAt: NOW + 1, blob } })
      await store.storage.calls.settle(settleTask(id))
    }
  })
  afterEach(() => store.close())

  const log = { warn: (_fields: object, message: string) => void warnings.push(message) } as unknown as Log
  const sweep = (remove: (blob: string) => Promise<void>) =>
    expireVideos({ storage: store.storage, blobs: { remove }, telemetry: { log } }, AFTER)
  const remove = (blob: string): Promise<void> => {
    stored.delete(blob)
    return Promise.resolve()
  }
  const records = async () => (await store.storage.videos.expired(AFTER, 9)).map(({ id }) => id)

  test('go with their bytes', async () => {
    await sweep(remove)
    expect([await records(), [...stored], warnings]).toEqual([[], [], []])
  })

  test.each([1, 2, 3])(
    'leave no bytes behind when the process crashes after %i of their blobs were removed',
    async (deaths) => {
      const dying = { ...store.storage.videos, forget: () => new Promise<void>(() => undefined) }
      let removed = 0
      const died = new Promise<void>((resolve) => {
        const blobs = {
          remove: async (blob: string) => {
            await remove(blob)
            removed += 1
            if (removed < deaths) return
            resolve()
            if (deaths < 3) await new Promise(() => undefined)
          },
        }
        void expireVideos({ storage: { videos: dying }, blobs, telemetry: { log } }, AFTER).catch(resolve)
      })
      await died
      expect(await records()).toHaveLength(3)
      await sweep(remove)
      expect([await records(), [...stored]]).toEqual([[], []])
    },
  )

  test('whose bytes cannot be removed now keep their record, and go with a later round', async () => {
    await sweep((blob) => (blob.endsWith('2') ? Promise.reject(new Error('the disk is away')) : remove(blob)))
    expect(warnings).toEqual(['the bytes of an expired video could not be removed'])
    expect(await records()).toEqual(expect.arrayContaining(['video_2']))
    await sweep(remove)
    expect([await records(), [...stored]]).toEqual([[], []])
  })
})

describe.each(['SQLite', 'PostgreSQL'] as const)('a start on %s', (engine) => {
  let store: TestStore
  beforeEach(async () => {
    store = await openTestStore(engine)
  })
  afterEach(() => store.close())

  const never = () => new Promise<never>(() => undefined)

  /** The store as it is, except for what the test makes of it; resolves when two heartbeats came after the first. */
  function start(changed: Partial<TestStore['storage']>) {
    let beats = 0
    let beaten: () => void
    const goesOn = new Promise<void>((resolve) => (beaten = resolve))
    const calls: CallStore = {
      ...store.storage.calls,
      ...changed.calls,
      heartbeat: async (...beat) => {
        const outcome = await store.storage.calls.heartbeat(...beat)
        beats += 1
        if (beats === 3) beaten()
        return outcome
      },
    }
    const started = startHousekeeping({
      storage: { ...store.storage, ...changed, calls },
      blobs: { remove: never },
      telemetry: createTelemetry({ level: 'fatal', now: () => NOW, version: '1.2.3' }),
      instance: INSTANCE,
      isRunning: () => false,
      logRetentionDays: 30,
      now: () => NOW,
      periods: { beatMs: 5, silentMs: 20_000 },
    })
    return { started, goesOn }
  }

  test('does not wait for the expiry, which may take long, and its heartbeat goes on', async () => {
    const { started, goesOn } = start({ turns: { ...store.storage.turns, expire: never } })
    const housekeeping = await started
    await goesOn
    housekeeping.stop()
  })

  test.each<[string, (until: Promise<void>) => Partial<TestStore['storage']>]>([
    [
      'recovery',
      (until) => ({ calls: { ...store.storage.calls, readInstances: () => until.then(() => []) } }),
    ],
    [
      'maintenance of the log',
      (until) => ({ logs: { ...store.storage.logs, keep: () => until.then(() => 0) } }),
    ],
  ])('waits for the %s, and its heartbeat goes on meanwhile', async (_, changed) => {
    let end = (): void => undefined
    const until = new Promise<void>((resolve) => (end = resolve))
    let isReady = false
    const { started, goesOn } = start(changed(until))
    const ready = started.then((housekeeping) => {
      isReady = true
      return housekeeping
    })
    await goesOn
    expect(isReady).toBe(false)
    end()
    const housekeeping = await ready
    housekeeping.stop()
  })
})
