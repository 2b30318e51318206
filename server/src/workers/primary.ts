/** The first of several processes: starts the others, replaces those that end, answers the operator, stops them all. */
import cluster, { type Worker } from 'node:cluster'
import { type TroubledChain, worstOf } from '../http/chain-health.ts'
import type { Workers } from '../app/run-gateway.ts'
import type { OpsSource, Readiness } from '../http/ops/ops-source.ts'
import type { Log } from '../telemetry/log.ts'
import { mergeMetrics } from '../telemetry/merge-metrics.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import { post } from './post.ts'
import { Restarts } from './restarts.ts'

/** How often hanging workers are looked for. */
const LIFE_LOOK_MS = 1_000
/** A worker that does not answer the operator within this time is left out of the page. */
const LOOK_MS = 2_000

export function startWorkers(
  count: number,
  { log, hungAfterMs }: { readonly log: Log; readonly hungAfterMs: number },
): Promise<Workers> {
  // Each worker accepts for itself: a connection costs nothing in this process.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  return new Promise((resolve, reject) => {
    const pool = new WorkerPool(
      { count, log, hungAfterMs },
      {
        ready: (addresses) =>
          resolve({
            ...addresses,
            ops: pool,
            onBeat: (listener) => pool.onBeat(listener),
            stop: (graceMs) => pool.stop(graceMs),
          }),
        failed: reject,
      },
    )
    for (let number = 1; number <= count; number += 1) pool.start(number)
  })
}

interface Member {
  readonly worker: Worker
  readonly number: number
  ready: boolean
  /**
   * Number of the first process's checks since the worker's last message; counted instead of timed, so that a suspended
   * machine does not end workers.
   */
  silentLooks: number
}

interface PoolOptions {
  readonly count: number
  readonly log: Log
  readonly hungAfterMs: number
}

interface WorkerEvents {
  /** All are ready; called again when they are again. */
  readonly ready: (addresses: Pick<Workers, 'baseUrl' | 'gatewayBaseUrl'>) => void
  readonly failed: (error: Error) => void
}

class WorkerPool implements OpsSource {
  readonly #count: number
  readonly #log: Log
  readonly #events: WorkerEvents
  readonly #members = new Map<number, Member>()
  readonly #looks = new Map<number, (answer: Extract<FromWorker, { kind: 'look' }>) => void>()
  #nextLook = 1
  readonly #restarts = new Restarts()
  #stopping = false
  #ended: (() => void) | undefined
  #beat: () => void = () => undefined
  readonly #watch: NodeJS.Timeout

  constructor({ count, log, hungAfterMs }: PoolOptions, events: WorkerEvents) {
    this.#count = count
    this.#log = log
    this.#events = events
    const looksMax = Math.ceil(hungAfterMs / LIFE_LOOK_MS)
    this.#watch = setInterval(() => this.#endHung(looksMax), LIFE_LOOK_MS)
    this.#watch.unref()
  }

  onBeat(listener: () => void): void {
    this.#beat = listener
  }

  /** A worker that is silent for too long would keep its connections for ever, so it is ended and replaced. */
  #endHung(looksMax: number): void {
    for (const member of this.#members.values()) {
      if (!member.ready) continue
      member.silentLooks += 1
      if (member.silentLooks !== looksMax) continue
      this.#log.error({ worker: member.number }, 'a worker process hangs and is being stopped')
      member.worker.kill('SIGKILL')
    }
  }

  start(number: number): void {
    const member: Member = { worker: cluster.fork(), number, ready: false, silentLooks: 0 }
    this.#members.set(number, member)
    member.worker.on('message', (message: FromWorker) => this.#hear(member, message))
    member.worker.on('exit', (code, signal) => this.#left(member, { code, signal }))
    member.worker.on('error', (error) => {
      this.#log.error({ worker: number, error }, 'a worker process failed')
      // The system could not start it, so no `exit` follows.
      if (member.worker.process.pid === undefined) this.#left(member, { code: null, signal: null })
    })
  }

  async readiness(): Promise<Readiness> {
    if (this.#stopping) return 'draining'
    const answers = await this.#look()
    if (answers.some(({ answer }) => answer.readiness === 'ready')) return 'ready'
    return answers[0]?.answer.readiness ?? 'not responding'
  }

  async metrics(): Promise<string> {
    const answers = await this.#look()
    return mergeMetrics(
      answers.map(({ number, answer }) => ({ worker: String(number), text: answer.metrics })),
    )
  }

  async troubledChains(): Promise<readonly TroubledChain[]> {
    const answers = await this.#look()
    return worstOf(answers.flatMap(({ answer }) => answer.troubledChains))
  }

  stop(graceMs: number): Promise<void> {
    this.#stopping = true
    clearInterval(this.#watch)
    const last = new Promise<void>((resolve) => {
      this.#ended = resolve
    })
    for (const { worker } of this.#members.values()) post<ToWorker>(worker, { kind: 'stop' })
    const force = setTimeout(() => {
      for (const { worker } of this.#members.values()) worker.kill('SIGKILL')
    }, graceMs)
    force.unref()
    if (this.#members.size === 0) this.#ended?.()
    return last.finally(() => clearTimeout(force))
  }

  #hear(member: Member, message: FromWorker): void {
    member.silentLooks = 0
    this.#beat()
    if (message.kind === 'beat') return
    if (message.kind === 'look') {
      this.#looks.get(message.id)?.(message)
      return
    }
    member.ready = true
    const ready = [...this.#members.values()].filter((one) => one.ready)
    const areAll = ready.length === this.#count
    this.#restarts.ready(areAll)
    if (areAll) this.#events.ready(message)
  }

  #left(member: Member, how: { readonly code: number | null; readonly signal: string | null }): void {
    this.#members.delete(member.number)
    if (this.#stopping) {
      if (this.#members.size === 0) this.#ended?.()
      return
    }
    this.#log.error({ worker: member.number, ...how }, 'a worker process ended by itself')
    const pauseMs = this.#restarts.ended({ wasReady: member.ready })
    if (pauseMs === undefined) {
      this.#events.failed(new Error('the worker processes do not start; the log says why'))
      return
    }
    setTimeout(() => {
      if (!this.#stopping) this.start(member.number)
    }, pauseMs)
  }

  /** Asks every ready worker at once; those that are too slow or end meanwhile are left out. */
  async #look(): Promise<
    readonly { readonly number: number; readonly answer: Extract<FromWorker, { kind: 'look' }> }[]
  > {
    const asked = [...this.#members.values()].filter((member) => member.ready)
    const answers = await Promise.all(
      asked.map(async ({ number, worker }) => ({ number, answer: await this.#ask(worker) })),
    )
    return answers.flatMap(({ number, answer }) => (answer === undefined ? [] : [{ number, answer }]))
  }

  #ask(worker: Worker): Promise<Extract<FromWorker, { kind: 'look' }> | undefined> {
    const id = this.#nextLook
    this.#nextLook += 1
    return new Promise((resolve) => {
      const finish = (answer?: Extract<FromWorker, { kind: 'look' }>): void => {
        clearTimeout(late)
        this.#looks.delete(id)
        resolve(answer)
      }
      const late = setTimeout(finish, LOOK_MS)
      this.#looks.set(id, finish)
      post<ToWorker>(worker, { kind: 'look', id }, finish)
    })
  }
}
