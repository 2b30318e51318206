/** The clock of running tasks: what is looked at, how many at once, when the next look is, and what a stop gives back. */
import { describe, expect, test } from 'vitest'
import { instanceId } from '../../../core/ids.ts'
import type { VideoTask } from '../../../core/video/task.ts'
import { StorageUnavailable } from '../../../storage/failures/unavailable.ts'
import { LEASE_MS } from '../order/open-task.ts'
import { createPoller, type PollerParts } from './poller.ts'

const NOW = 1_000_000

/** A poller with a store of due tasks and a clock that are said by the test. */
class Trial {
  now = NOW
  /** What the next lease gives. */
  due: readonly string[] = []
  nextDue: number | undefined
  leaseFails: Error | undefined
  lookFails: Error | undefined
  releaseFails: Error | undefined
  readonly leases: object[] = []
  readonly patched: string[] = []
  readonly looked: string[] = []
  readonly logged: string[] = []
  /** The alarm that is set: in how many ms it rings. */
  alarm: { readonly ms: number; readonly ring: () => void } | undefined
  released = 0
  readonly creating = new Set<string>()
  readonly #looks = new Map<string, () => void>()
  readonly #background: Promise<unknown>[] = []
  readonly poller = createPoller({
    partsOf: () => this.#parts(),
    lookAfter: ({ id }) => this.#look(id),
    setAlarm: (ms, ring) => {
      this.alarm = { ms, ring }
      return { callOff: () => (this.alarm = undefined) }
    },
  })

  /** One beat, and everything that follows of it at once. */
  async beat(...due: readonly string[]): Promise<void> {
    this.due = due
    await this.poller.beat()
  }

  async endLook(id: string): Promise<void> {
    this.#looks.get(id)?.()
    this.#looks.delete(id)
    await Promise.all(this.#background.splice(0, this.#background.length - this.#looks.size))
    await Promise.resolve()
  }

  async #look(id: string): Promise<void> {
    this.looked.push(id)
    if (this.lookFails !== undefined) throw this.lookFails
    await new Promise<void>((resolve) => this.#looks.set(id, resolve))
  }

  #parts(): PollerParts {
    const videos = {
      lease: (asked: object) => {
        this.leases.push(asked)
        if (this.leaseFails !== undefined) return Promise.reject(this.leaseFails)
        return Promise.resolve(this.due.map((id) => ({ id }) as VideoTask))
      },
      nextDue: () => Promise.resolve(this.nextDue),
      patch: (id: string, { dueAt }: { readonly dueAt: number }) => {
        this.patched.push(`${id} in ${dueAt - this.now}`)
        return Promise.resolve(true)
      },
      release: () => {
        this.released += 1
        return this.releaseFails === undefined ? Promise.resolve() : Promise.reject(this.releaseFails)
      },
    }
    const log = (_fields: object, message: string): number => this.logged.push(message)
    return {
      now: () => this.now,
      instanceId: instanceId('one'),
      storage: { videos },
      videos: { creating: this.creating, waiting: new Set() },
      telemetry: {
        log: { error: log, warn: log },
        metrics: { gauge: () => undefined },
        background: { track: (work: Promise<unknown>) => this.#background.push(work) },
      },
    } as unknown as PollerParts
  }
}

function started(): Trial {
  const trial = new Trial()
  trial.poller.start()
  return trial
}

describe('a beat', () => {
  test('leases what is due in the name of its instance, for a bounded time and in a bounded number', async () => {
    const trial = started()
    await trial.beat('a', 'b')
    expect(trial.leases).toEqual([{ instance: 'one', at: NOW, until: NOW + LEASE_MS, limit: 128 }])
    expect(trial.looked).toEqual(['a', 'b'])
  })

  test('before the start and after the stop does nothing', async () => {
    const trial = new Trial()
    await trial.beat('a')
    trial.poller.start()
    await trial.poller.stop()
    await trial.beat('a')
    expect(trial).toMatchObject({ leases: [], looked: [], alarm: undefined })
  })

  test('that is asked for while another one runs is that one', async () => {
    const trial = started()
    await Promise.all([trial.beat('a'), trial.beat('a')])
    expect(trial.leases).toHaveLength(1)
  })

  test.each<[string, (trial: Trial) => Promise<void>]>([
    ['that is being looked at', async (trial) => trial.beat('a')],
    ['whose create call is under way here', async (trial) => void trial.creating.add('a')],
  ])('leaves alone a task %s', async (_sentence, prepare) => {
    const trial = started()
    await prepare(trial)
    const before = trial.looked.length
    await trial.beat('a')
    expect(trial.looked).toHaveLength(before)
    expect(trial.poller.holds('a')).toBe(true)
  })

  test('looks at 128 tasks at once and at no more until one has ended', async () => {
    const trial = started()
    const ids = Array.from({ length: 129 }, (_, at) => `task ${at}`)
    await trial.beat(...ids)
    expect(trial.looked).toHaveLength(128)
    await trial.beat('another')
    expect(trial.leases).toHaveLength(1)
    await trial.endLook('task 0')
    await trial.beat('another')
    expect(trial.looked.at(-1)).toBe('another')
  })
})

describe('the next beat comes', () => {
  test.each<[string, number | undefined, number]>([
    ['when the next task is due', NOW + 700, 700],
    [
      'after two seconds at the latest, as tasks of other instances become due without a word',
      NOW + 60_000,
      2_000,
    ],
    ['after two seconds when there is no task', undefined, 2_000],
    ['in a quarter of a second while what is due is under way', NOW, 250],
    ['not sooner than 50 ms after the last one', NOW + 1, 50],
  ])('%s', async (_sentence, nextDue, ms) => {
    const trial = started()
    trial.nextDue = nextDue
    trial.alarm?.ring()
    await trial.poller.beat()
    expect(trial.alarm?.ms).toBe(ms)
  })

  test('sooner when a task is expected sooner, and never later for one that is expected later', async () => {
    const trial = started()
    trial.alarm?.ring()
    await trial.poller.beat()
    trial.poller.expect(NOW + 300)
    expect(trial.alarm?.ms).toBe(300)
    trial.poller.expect(NOW + 900)
    expect(trial.alarm?.ms).toBe(300)
  })

  test('also when the clock was set back', async () => {
    const trial = started()
    trial.alarm?.ring()
    await trial.poller.beat()
    trial.now = NOW - 3_600_000
    trial.poller.expect(trial.now + 10)
    expect(trial.alarm?.ms).toBe(10)
  })
})

describe('when something fails', () => {
  test.each<[string, Error, readonly string[]]>([
    ['a store that is away is asked again without a word', new StorageUnavailable('away'), []],
    [
      'any other error of a lease is logged and it is tried again',
      new Error('odd'),
      ['video tasks could not be leased'],
    ],
  ])('%s', async (_sentence, error, logged) => {
    const trial = started()
    trial.leaseFails = error
    trial.alarm?.ring()
    await trial.poller.beat()
    expect(trial).toMatchObject({ logged, alarm: { ms: 5_000 } })
  })

  test('a look that throws is logged and its task comes again in five seconds', async () => {
    const trial = started()
    trial.lookFails = new Error('odd')
    await trial.beat('a')
    await trial.endLook('a')
    expect(trial.logged).toEqual(['a video task could not be looked after'])
    expect(trial.patched).toEqual(['a in 5000'])
    expect(trial.poller.holds('a')).toBe(false)
  })
})

describe('a task that takes long here', () => {
  test.each<[string, (trial: Trial) => Promise<void>]>([
    ['that is being looked at', (trial) => trial.beat('a')],
    [
      'whose create call is under way',
      async (trial) => {
        trial.creating.add('a')
        await trial.beat()
      },
    ],
  ])('%s is kept from the others every eight seconds', async (_sentence, begin) => {
    const trial = started()
    await begin(trial)
    await trial.beat()
    trial.now += 7_999
    await trial.beat()
    expect(trial.patched).toEqual([])
    trial.now += 8_000
    await trial.beat()
    await trial.beat()
    expect(trial.patched).toEqual([`a in ${LEASE_MS / 2}`])
  })
})

describe('a stop', () => {
  test('waits for the looks under way and gives back what this instance has leased', async () => {
    const trial = started()
    await trial.beat('a')
    const stopped = trial.poller.stop()
    expect(trial.released).toBe(0)
    await trial.endLook('a')
    await stopped
    expect(trial).toMatchObject({ released: 1, alarm: undefined })
  })

  test('goes on where the store is away: the leases run out', async () => {
    const trial = started()
    trial.releaseFails = new StorageUnavailable('away')
    await trial.poller.stop()
    expect(trial.logged).toEqual(['the tasks of this instance could not be given back: their leases run out'])
  })
})
