/**
 * The one timer for all running tasks of an instance: it leases due tasks in batches and works on them with bounded
 * concurrency. Thousands of tasks cost one timer. Tasks of instances that fell silent are leased in the same way.
 *
 *   idle ─ start ─▶ waiting ─ the alarm rings, or a beat is asked for ─▶ beating
 *                    │  ▲──────────── what is due is leased, or that failed ──┤
 *                    └── stop ──▶ stopped ◀──────────────────────────── stop ─┘
 *
 * So either an alarm is set or a beat is under way. A task that is expected during a beat is remembered until its end, since
 * the beat may have asked the store before.
 */
import type { VideoTask } from '../../../core/video/task.ts'
import { StorageUnavailable } from '../../../storage/failures/unavailable.ts'
import type { Pipeline } from '../../context.ts'
import { LEASE_MS } from '../order/open-task.ts'
import type { Poller } from '../videos.ts'

export type PollerParts = Pick<Pipeline, 'instanceId' | 'now' | 'storage' | 'telemetry' | 'videos'>

export interface PollerOptions {
  /** Called when it starts. */
  readonly partsOf: () => PollerParts
  /** Works one step on a due task. */
  readonly advanceTask: (task: VideoTask) => Promise<void>
  /** Calls `ring` once after this many ms; returns a function that cancels it. */
  readonly setAlarm?: (ms: number, ring: () => void) => Alarm
}

interface Alarm {
  readonly callOff: () => void
}

/** Concurrent requests to vendors. */
const BUSY_MAX = 128
/** Tasks of other instances become due without notice to this one. */
const IDLE_MS = 2_000
/** Minimum time between two beats, so that tasks due together are leased together. */
const BEAT_MS_MIN = 50
/** Time between two beats while some due tasks are in progress. */
const UNDER_WAY_MS = 250
/** Renewal interval, well below the lease of a task in progress here. */
const KEEP_EVERY_MS = 8_000
/** Wait after an error of the store or of the gateway itself. */
const AGAIN_MS = 5_000

export function createPoller(options: PollerOptions): Poller {
  return new LeasingPoller(options)
}

/** Does not keep the process alive. */
const systemAlarm: NonNullable<PollerOptions['setAlarm']> = (ms, ring) => {
  const timer = setTimeout(ring, ms).unref()
  return { callOff: () => clearTimeout(timer) }
}

/** Times are epoch ms. */
type State =
  | { readonly kind: 'idle' }
  | Waiting
  | Beating
  /**
   * Final. `over` resolves when the last beat and the steps in progress have ended, and leases have been given back.
   */
  | { readonly kind: 'stopped'; readonly over: Promise<void> }

interface Waiting {
  readonly kind: 'waiting'
  readonly pipeline: PollerParts
  readonly lastBeatAt: number
  readonly dueAt: number
  readonly alarm: Alarm
}

interface Beating {
  readonly kind: 'beating'
  readonly pipeline: PollerParts
  /** The latest time for the next beat; `NEVER`: none is needed. */
  readonly wantedAt: number
  readonly beat: Promise<void>
}

const NEVER = Number.POSITIVE_INFINITY

class LeasingPoller implements Poller {
  readonly #options: PollerOptions
  #state: State = { kind: 'idle' }
  readonly #busy = new Map<string, Promise<void>>()
  /** When the lease of a task in progress here was last renewed, epoch ms. */
  readonly #kept = new Map<string, number>()

  constructor(options: PollerOptions) {
    this.#options = options
  }

  holds(taskId: string): boolean {
    const state = this.#state
    const running = state.kind === 'waiting' || state.kind === 'beating'
    return (running && state.pipeline.videos.creating.has(taskId)) || this.#busy.has(taskId)
  }

  start(): void {
    if (this.#state.kind !== 'idle') return
    const pipeline = this.#options.partsOf()
    pipeline.telemetry.metrics.gauge({
      name: 'sluice_video_polls_running',
      help: 'Video tasks this process is polling right now.',
      read: () => this.#busy.size,
    })
    pipeline.telemetry.metrics.gauge({
      name: 'sluice_video_waiting',
      help: 'Video tasks that clients of this process wait for.',
      read: () => pipeline.videos.waiting.size,
    })
    this.#wait({ pipeline, lastBeatAt: 0, dueAt: pipeline.now() })
  }

  expect(dueAt: number): void {
    const state = this.#state
    switch (state.kind) {
      case 'waiting': {
        if (state.dueAt <= beatAt({ ...state, dueAt })) return
        state.alarm.callOff()
        return this.#wait({ ...state, dueAt })
      }
      case 'beating':
        this.#state = { ...state, wantedAt: Math.min(state.wantedAt, dueAt) }
        return
      case 'idle':
      case 'stopped':
    }
  }

  beat(): Promise<void> {
    const state = this.#state
    switch (state.kind) {
      case 'waiting':
        state.alarm.callOff()
        return this.#begin(state.pipeline, state.dueAt)
      case 'beating':
        return state.beat
      case 'idle':
      case 'stopped':
        return Promise.resolve()
    }
  }

  stop(): Promise<void> {
    const state = this.#state
    if (state.kind === 'stopped') return state.over
    if (state.kind === 'waiting') state.alarm.callOff()
    const over = this.#end(state)
    this.#state = { kind: 'stopped', over }
    return over
  }

  #wait(next: Pick<Waiting, 'pipeline' | 'lastBeatAt' | 'dueAt'>): void {
    const { setAlarm = systemAlarm } = this.#options
    const dueAt = beatAt(next)
    const alarm = setAlarm(Math.max(1, dueAt - next.pipeline.now()), () => this.#ring())
    this.#state = { kind: 'waiting', ...next, dueAt, alarm }
  }

  #ring(): void {
    const state = this.#state
    if (state.kind !== 'waiting') return
    const beat = this.#begin(state.pipeline, NEVER)
    state.pipeline.telemetry.background.track(beat, 'poll video tasks')
  }

  #begin(pipeline: PollerParts, wantedAt: number): Promise<void> {
    const beat = this.#beat(pipeline, pipeline.now())
    this.#state = { kind: 'beating', pipeline, wantedAt, beat }
    return beat
  }

  async #beat(pipeline: PollerParts, at: number): Promise<void> {
    let dueAt = at + AGAIN_MS
    try {
      dueAt = await this.#lookAround(pipeline, at)
    } catch (error) {
      dueAt = pipeline.now() + AGAIN_MS
      if (!(error instanceof StorageUnavailable)) {
        pipeline.telemetry.log.error({ error }, 'video tasks could not be leased')
      }
    } finally {
      const state = this.#state
      if (state.kind === 'beating') {
        this.#wait({ pipeline, lastBeatAt: at, dueAt: Math.min(dueAt, state.wantedAt) })
      }
    }
  }

  async #end(state: Exclude<State, { readonly kind: 'stopped' }>): Promise<void> {
    if (state.kind === 'idle') return
    if (state.kind === 'beating') await state.beat
    await Promise.all(this.#busy.values())
    await giveBack(state.pipeline)
  }

  /** Returns when the next beat is due. */
  async #lookAround(pipeline: PollerParts, at: number): Promise<number> {
    this.#keepAll(pipeline, at)
    // At full concurrency, the end of the next step triggers the next beat.
    const tasks = this.#busy.size < BUSY_MAX ? await this.#lease(pipeline, at) : []
    for (const task of tasks) this.#look(pipeline, task)
    return this.#nextBeat(pipeline)
  }

  #lease(pipeline: Pick<Pipeline, 'instanceId' | 'storage'>, at: number): Promise<readonly VideoTask[]> {
    return pipeline.storage.videos.lease({
      instance: pipeline.instanceId,
      at,
      until: at + LEASE_MS,
      // Tasks in progress may be leased again with the others, since they are due as well.
      limit: BUSY_MAX,
    })
  }

  async #nextBeat(pipeline: Pick<Pipeline, 'now' | 'storage'>): Promise<number> {
    const next = (await pipeline.storage.videos.nextDue()) ?? NEVER
    const now = pipeline.now()
    // What is still due although everything due was just leased is in progress here.
    return next <= now ? now + UNDER_WAY_MS : Math.min(next, now + IDLE_MS)
  }

  #look(pipeline: PollerParts, task: VideoTask): void {
    const underWay = this.#busy.has(task.id) || pipeline.videos.creating.has(task.id)
    if (underWay || this.#busy.size >= BUSY_MAX) return
    const looking = this.#advanceTask(pipeline, task).finally(() => {
      const full = this.#busy.size >= BUSY_MAX
      this.#busy.delete(task.id)
      this.#kept.delete(task.id)
      if (full) this.expect(pipeline.now())
    })
    this.#busy.set(task.id, looking)
    pipeline.telemetry.background.track(looking, 'look after a video task')
  }

  async #advanceTask(pipeline: PollerParts, task: VideoTask): Promise<void> {
    try {
      await this.#options.advanceTask(task)
    } catch (error) {
      pipeline.telemetry.log.error({ taskId: task.id, error }, 'a video task could not be looked after')
      await this.#postpone(pipeline, task.id, AGAIN_MS)
    }
  }

  /** Renews the leases of long steps: no other process takes a task whose time is in the future. */
  #keepAll(pipeline: PollerParts, at: number): void {
    const { creating } = pipeline.videos
    for (const id of this.#kept.keys()) if (!this.#busy.has(id) && !creating.has(id)) this.#kept.delete(id)
    for (const ids of [this.#busy.keys(), creating]) {
      for (const id of ids) {
        const since = this.#kept.get(id) ?? at
        this.#kept.set(id, at - since < KEEP_EVERY_MS ? since : at)
        if (at - since < KEEP_EVERY_MS) continue
        pipeline.telemetry.background.track(this.#postpone(pipeline, id, LEASE_MS / 2), 'keep a video task')
      }
    }
  }

  async #postpone(pipeline: PollerParts, id: string, ms: number): Promise<void> {
    const dueAt = pipeline.now() + ms
    await pipeline.storage.videos.patch(id, { dueAt }, pipeline.instanceId)
    this.expect(dueAt)
  }
}

/** When to beat for a task that is due at that time. */
function beatAt({ pipeline, lastBeatAt, dueAt }: Pick<Waiting, 'pipeline' | 'lastBeatAt' | 'dueAt'>): number {
  const now = pipeline.now()
  // A clock that was set back must not delay the next beat.
  return Math.max(dueAt, lastBeatAt > now ? now : lastBeatAt + BEAT_MS_MIN)
}

/**
 * Lets other instances take the tasks without waiting for the leases to expire; if the store is unreachable, they must
 * wait.
 */
async function giveBack({ storage, instanceId, telemetry }: PollerParts): Promise<void> {
  try {
    await storage.videos.release(instanceId)
  } catch (error) {
    telemetry.log.warn({ error }, 'the tasks of this instance could not be given back: their leases run out')
  }
}
