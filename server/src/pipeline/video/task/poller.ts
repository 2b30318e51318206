/**
 * The one clock of all running tasks of an instance: it leases what is due, a batch at a time, and looks at each with
 * bounded concurrency. Thousands of tasks cost one timer. Tasks of instances that fell silent come with the same lease.
 */
import type { VideoTask } from '../../../core/video/task.ts'
import { StorageUnavailable } from '../../../storage/failures/unavailable.ts'
import type { Pipeline } from '../../context.ts'
import { LEASE_MS } from '../order/open-task.ts'
import type { Poller } from '../videos.ts'

export type PollerParts = Pick<Pipeline, 'instanceId' | 'now' | 'storage' | 'telemetry' | 'videos'>

export interface PollerOptions {
  /** Asked for when it starts. */
  readonly partsOf: () => PollerParts
  /** One look at a due task, to its end. */
  readonly lookAfter: (task: VideoTask) => Promise<void>
  /** Rings once after so many ms, unless it is called off before. */
  readonly setAlarm?: (ms: number, ring: () => void) => { readonly callOff: () => void }
}

/** Questions to vendors at once. */
const BUSY_MAX = 128
/** Tasks of other instances become due without a word to us. */
const IDLE_MS = 2_000
/** Between two beats, so that what falls due together is leased together. */
const BEAT_MS_MIN = 50
/** Between two beats while some tasks are due that are being looked at. */
const UNDER_WAY_MS = 250
/** Well before a task that is worked on here would be anybody's again. */
const KEEP_EVERY_MS = 8_000
/** After an error of the store, or of ours. */
const AGAIN_MS = 5_000

export function createPoller(options: PollerOptions): Poller {
  return new LeasingPoller(options)
}

/** Does not keep the process alive. */
const systemAlarm: NonNullable<PollerOptions['setAlarm']> = (ms, ring) => {
  const timer = setTimeout(ring, ms).unref()
  return { callOff: () => clearTimeout(timer) }
}

class LeasingPoller implements Poller {
  readonly #busy = new Map<string, Promise<void>>()
  /** When work under way here was last said to go on, epoch ms. */
  readonly #kept = new Map<string, number>()
  readonly #options: PollerOptions
  /** Between start and stop. */
  #running: PollerParts | undefined
  /** When the next beat is, epoch ms. */
  #next: { readonly dueAt: number; readonly callOff: () => void } | undefined
  #lastBeatAt = 0
  #beating: Promise<void> | undefined

  constructor(options: PollerOptions) {
    this.#options = options
  }

  holds(taskId: string): boolean {
    return this.#running?.videos.creating.has(taskId) === true || this.#busy.has(taskId)
  }

  start(): void {
    const pipeline = this.#options.partsOf()
    this.#running = pipeline
    pipeline.telemetry.metrics.gauge({
      name: 'sluice_video_polls_running',
      help: 'Video tasks this process is looking at just now.',
      read: () => this.#busy.size,
    })
    pipeline.telemetry.metrics.gauge({
      name: 'sluice_video_waiting',
      help: 'Video tasks that clients of this process wait for.',
      read: () => pipeline.videos.waiting.size,
    })
    this.expect(pipeline.now())
  }

  expect(dueAt: number): void {
    const pipeline = this.#running
    if (pipeline === undefined) return
    const now = pipeline.now()
    // A clock that was set back must not make the next beat wait for it.
    const earliest = this.#lastBeatAt > now ? now : this.#lastBeatAt + BEAT_MS_MIN
    const due = Math.max(dueAt, earliest)
    if (this.#next !== undefined && this.#next.dueAt <= due) return
    this.#next?.callOff()
    const { setAlarm = systemAlarm } = this.#options
    const { callOff } = setAlarm(Math.max(1, due - now), () => this.#ring(pipeline))
    this.#next = { dueAt: due, callOff }
  }

  beat(): Promise<void> {
    const pipeline = this.#running
    if (pipeline === undefined) return Promise.resolve()
    this.#beating ??= this.#beat(pipeline).finally(() => {
      this.#beating = undefined
    })
    return this.#beating
  }

  async stop(): Promise<void> {
    const pipeline = this.#running
    this.#running = undefined
    this.#next?.callOff()
    this.#next = undefined
    await this.#beating
    await Promise.all(this.#busy.values())
    if (pipeline !== undefined) await giveBack(pipeline)
  }

  #ring(pipeline: Pick<Pipeline, 'telemetry'>): void {
    this.#next = undefined
    pipeline.telemetry.background.track(this.beat(), 'poll video tasks')
  }

  async #beat(pipeline: PollerParts): Promise<void> {
    const at = pipeline.now()
    this.#lastBeatAt = at
    try {
      this.#keepAll(pipeline, at)
      // Without room for one more the end of the next look makes the next beat.
      const tasks = this.#busy.size < BUSY_MAX ? await this.#lease(pipeline, at) : []
      for (const task of tasks) this.#look(pipeline, task)
      this.expect(await this.#nextBeat(pipeline))
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) {
        pipeline.telemetry.log.error({ error }, 'video tasks could not be leased')
      }
      this.expect(pipeline.now() + AGAIN_MS)
    }
  }

  #lease(pipeline: Pick<Pipeline, 'instanceId' | 'storage'>, at: number): Promise<readonly VideoTask[]> {
    return pipeline.storage.videos.lease({
      instance: pipeline.instanceId,
      at,
      until: at + LEASE_MS,
      // Those under way may be leased again with the others, since their time has come as well.
      limit: BUSY_MAX,
    })
  }

  async #nextBeat(pipeline: Pick<Pipeline, 'now' | 'storage'>): Promise<number> {
    const next = (await pipeline.storage.videos.nextDue()) ?? Number.POSITIVE_INFINITY
    const now = pipeline.now()
    // What is due although everything due was just leased is under way.
    return next <= now ? now + UNDER_WAY_MS : Math.min(next, now + IDLE_MS)
  }

  #look(pipeline: PollerParts, task: VideoTask): void {
    const underWay = this.#busy.has(task.id) || pipeline.videos.creating.has(task.id)
    if (underWay || this.#busy.size >= BUSY_MAX) return
    const looking = this.#lookAfter(pipeline, task).finally(() => {
      const full = this.#busy.size >= BUSY_MAX
      this.#busy.delete(task.id)
      this.#kept.delete(task.id)
      if (full) this.expect(pipeline.now())
    })
    this.#busy.set(task.id, looking)
    pipeline.telemetry.background.track(looking, 'look after a video task')
  }

  async #lookAfter(pipeline: PollerParts, task: VideoTask): Promise<void> {
    try {
      await this.#options.lookAfter(task)
    } catch (error) {
      pipeline.telemetry.log.error({ taskId: task.id, error }, 'a video task could not be looked after')
      await this.#postpone(pipeline, task.id, AGAIN_MS)
    }
  }

  /** Says of what takes long here that it goes on: nobody else takes a task whose time lies ahead. */
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

/** So that others need not wait for the leases to run out; where the store is away, they do. */
async function giveBack({ storage, instanceId, telemetry }: PollerParts): Promise<void> {
  try {
    await storage.videos.release(instanceId)
  } catch (error) {
    telemetry.log.warn({ error }, 'the tasks of this instance could not be given back: their leases run out')
  }
}
