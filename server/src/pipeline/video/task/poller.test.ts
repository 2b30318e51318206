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
  /** Leases are answered when the test says so. */
  slow = false
  /** Answers a lease that is held: with what is due, or with an error. */
  answerLease: (error?: Error) => void = () => undefined
  nextDue: number | undefined
  leaseFails: Error | undefined
  /** Before there is a promise. */
  leaseThrows: Error | undefined
  logThrows: Error | undefined
  lookFails: Error | undefined
  releaseFails: Error | undefined
  readonly leases: object[] = []
  readonly patched: string[] = []
  readonly looked: string[] = []
  readonly logged: string[] = []
  /** The alarm that is set: in how many ms it rings. */
  alarm: { readonly ms: number; readonly ring: () => void } | undefined
  /** The last alarm that was set, also when it has rung or was called off. */
  lastAlarm: { readonly ring: () => void } | undefined
  released = 0
  readonly creating = new Set<string>()
  readonly #looks = new Map<string, () => void>()
  readonly #background: Promise<unknown>[] = []
  readonly poller = createPoller({
    partsOf: () => this.#parts(),
    advanceTask: ({ id }) => this.#look(id),
    setAlarm: (ms, ring) => {
      const alarm = {
        ms,
        ring: () => {
          if (this.alarm === alarm) this.alarm = undefined
          ring()
        },
      }
      if (this.alarm !== undefined) throw new Error('two alarms are set')
      this.alarm = alarm
      this.lastAlarm = alarm
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
        if (this.leaseThrows !== undefined) throw this.leaseThrows
        if (this.leaseFails !== undefined) return Promise.reject(this.leaseFails)
        const due = this.due.map((id) => ({ id }) as VideoTask)
        if (!this.slow) return Promise.resolve(due)
        return new Promise((resolve, reject) => {
          this.answerLease = (error) => (error === undefined ? resolve(due) : reject(error))
        })
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
    const log = (_fields: object, message: string): void => {
      if (this.logThrows !== undefined) throw this.logThrows
      this.logged.push(message)
    }
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

/** Until nothing more happens by itself. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

type StateName =
  | 'idle'
  | 'waiting'
  | 'beating'
  | 'beating, another one wanted'
  | 'stopped during a beat'
  | 'stopped'

/** How the poller comes to be in a state; from now on leases are answered slowly, and the next task is due in 1,500 ms. */
const STATES: Readonly<Record<StateName, () => Promise<Trial>>> = {
  idle: () => Promise.resolve(new Trial()),
  waiting: async () => {
    const trial = started()
    trial.nextDue = NOW + 700
    trial.alarm?.ring()
    await settled()
    return trial
  },
  beating: async () => {
    const trial = await STATES.waiting()
    trial.slow = true
    trial.alarm?.ring()
    await settled()
    return trial
  },
  'beating, another one wanted': async () => {
    const trial = await STATES.beating()
    trial.poller.expect(NOW + 300)
    return trial
  },
  'stopped during a beat': async () => {
    const trial = await STATES.beating()
    EVENTS['it is stopped'](trial)
    await settled()
    return trial
  },
  stopped: async () => {
    const trial = await STATES.waiting()
    await trial.poller.stop()
    return trial
  },
}

const EVENTS = {
  'it is started': (trial: Trial) => trial.poller.start(),
  'a task is expected in 100 ms': (trial: Trial) => trial.poller.expect(NOW + 100),
  'a task is expected in 900 ms': (trial: Trial) => trial.poller.expect(NOW + 900),
  // Where none is set: one that comes late.
  'the alarm rings': (trial: Trial) => trial.lastAlarm?.ring(),
  'a beat is asked for': (trial: Trial) => void trial.poller.beat(),
  'the beat ends': (trial: Trial) => trial.answerLease(),
  'the beat throws': (trial: Trial) => trial.answerLease(new Error('odd')),
  'it is stopped': (trial: Trial) => void trial.poller.stop(),
} satisfies Readonly<Record<string, (trial: Trial) => void>>
type Event = keyof typeof EVENTS

function seenOf(trial: Trial, leasesBefore: number): string {
  const alarm = trial.alarm === undefined ? 'no alarm' : `alarm in ${trial.alarm.ms}`
  const leases = trial.leases.length - leasesBefore
  return [
    alarm,
    ...(leases === 0 ? [] : [`${leases} beat`]),
    ...(trial.released === 0 ? [] : [`given back ${trial.released}`]),
  ].join(', ')
}

/** What is seen at once, and where more follows when the beat under way has ended, that. */
const TRANSITIONS: Readonly<Record<StateName, Readonly<Record<Event, string>>>> = {
  idle: {
    'it is started': 'alarm in 1',
    'a task is expected in 100 ms': 'no alarm',
    'a task is expected in 900 ms': 'no alarm',
    'the alarm rings': 'no alarm',
    'a beat is asked for': 'no alarm',
    'the beat ends': 'no alarm',
    'the beat throws': 'no alarm',
    'it is stopped': 'no alarm',
  },
  waiting: {
    'it is started': 'alarm in 700',
    'a task is expected in 100 ms': 'alarm in 100',
    'a task is expected in 900 ms': 'alarm in 700',
    'the alarm rings': 'no alarm, 1 beat; alarm in 1500, 1 beat',
    'a beat is asked for': 'no alarm, 1 beat; alarm in 700, 1 beat',
    'the beat ends': 'alarm in 700',
    'the beat throws': 'alarm in 700',
    'it is stopped': 'no alarm, given back 1',
  },
  beating: {
    'it is started': 'no alarm; alarm in 1500',
    'a task is expected in 100 ms': 'no alarm; alarm in 100',
    'a task is expected in 900 ms': 'no alarm; alarm in 900',
    'the alarm rings': 'no alarm; alarm in 1500',
    'a beat is asked for': 'no alarm; alarm in 1500',
    'the beat ends': 'alarm in 1500',
    'the beat throws': 'alarm in 5000',
    'it is stopped': 'no alarm; no alarm, given back 1',
  },
  'beating, another one wanted': {
    'it is started': 'no alarm; alarm in 300',
    'a task is expected in 100 ms': 'no alarm; alarm in 100',
    'a task is expected in 900 ms': 'no alarm; alarm in 300',
    'the alarm rings': 'no alarm; alarm in 300',
    'a beat is asked for': 'no alarm; alarm in 300',
    'the beat ends': 'alarm in 300',
    'the beat throws': 'alarm in 300',
    'it is stopped': 'no alarm; no alarm, given back 1',
  },
  'stopped during a beat': {
    'it is started': 'no alarm; no alarm, given back 1',
    'a task is expected in 100 ms': 'no alarm; no alarm, given back 1',
    'a task is expected in 900 ms': 'no alarm; no alarm, given back 1',
    'the alarm rings': 'no alarm; no alarm, given back 1',
    'a beat is asked for': 'no alarm; no alarm, given back 1',
    'the beat ends': 'no alarm, given back 1',
    'the beat throws': 'no alarm, given back 1',
    'it is stopped': 'no alarm; no alarm, given back 1',
  },
  stopped: {
    'it is started': 'no alarm, given back 1',
    'a task is expected in 100 ms': 'no alarm, given back 1',
    'a task is expected in 900 ms': 'no alarm, given back 1',
    'the alarm rings': 'no alarm, given back 1',
    'a beat is asked for': 'no alarm, given back 1',
    'the beat ends': 'no alarm, given back 1',
    'the beat throws': 'no alarm, given back 1',
    'it is stopped': 'no alarm, given back 1',
  },
}

describe.each(Object.keys(TRANSITIONS) as StateName[])('a poller that is %s', (state) => {
  test.each(Object.entries(TRANSITIONS[state]) as [Event, string][])('when %s: %s', async (event, seen) => {
    const trial = await STATES[state]()
    trial.slow = true
    trial.nextDue = NOW + 1_500
    const before = trial.leases.length
    EVENTS[event](trial)
    await settled()
    const atOnce = seenOf(trial, before)
    trial.answerLease()
    await settled()
    const inTheEnd = seenOf(trial, before)
    expect(atOnce === inTheEnd ? atOnce : `${atOnce}; ${inTheEnd}`).toBe(seen)
  })
})

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

  test('at once when its time came during a beat that may have asked the store before', async () => {
    const trial = await STATES.beating()
    trial.poller.expect(NOW + 100)
    trial.now += 400
    trial.nextDue = undefined
    trial.answerLease()
    await settled()
    expect(trial).toMatchObject({ alarm: { ms: 1 } })
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

  test('a beat that breaks before it has asked for anything, and cannot say what broke, does not end the beats', async () => {
    const trial = started()
    trial.leaseThrows = new Error('odd')
    trial.logThrows = new Error('full')
    trial.alarm?.ring()
    await expect(trial.poller.beat()).rejects.toThrow('full')
    expect(trial).toMatchObject({ alarm: { ms: 5_000 } })
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

  test('during a beat waits for what that beat leases, too', async () => {
    const trial = started()
    trial.slow = true
    trial.due = ['a']
    trial.alarm?.ring()
    await settled()
    const stopped = trial.poller.stop()
    trial.answerLease()
    await settled()
    expect(trial).toMatchObject({ looked: ['a'], released: 0 })
    await trial.endLook('a')
    await stopped
    expect(trial).toMatchObject({ released: 1, alarm: undefined })
  })

  test('that is asked for twice is one', async () => {
    const trial = started()
    await trial.beat('a')
    const stops = [trial.poller.stop(), trial.poller.stop()]
    await trial.endLook('a')
    await Promise.all(stops)
    expect(trial.released).toBe(1)
  })

  test('goes on where the store is away: the leases run out', async () => {
    const trial = started()
    trial.releaseFails = new StorageUnavailable('away')
    await trial.poller.stop()
    expect(trial.logged).toEqual(['the tasks of this instance could not be given back: their leases run out'])
  })
})
