/**
 * A few threads for work that would block the event loop too long. The queue is bounded, in total and per owner; owners
 * take turns, and none may use every thread; work that runs too long is ended with its thread.
 */
import type { WorkFailure } from './work.ts'

/** One thread, as the pool sees it. It does one task at a time. */
export interface PoolThread<Task, Result> {
  post(task: Task): void
  /** Ends it, whatever it is doing; `onExit` is not called then. */
  end(): void
  readonly events: {
    onResult: (result: Result) => void
    /** It ended by itself; `why` is for the log, `memory`: it exceeded its memory limit. */
    onExit: (why: { readonly memory: boolean; readonly message: string }) => void
  }
}

export interface PoolOptions<Task, Result> {
  readonly open: () => PoolThread<Task, Result>
  readonly threadsMax: number
  readonly waitingMax: number
  readonly waitingPerOwnerMax: number
  /** How long a task may wait and run. */
  readonly waitMsMax: number
  readonly runMsMax: number
  /** Idle threads, which occupy memory, are ended after this time. */
  readonly idleMsMax: number
}

export interface Work<Result> {
  /** Rejects with `WorkFailure`. */
  readonly result: Promise<Result>
  /** The result is no longer needed: it is removed from the queue, or its result is discarded. */
  cancel(): void
}

export interface ThreadPool<Task, Result> {
  /** `essential`: work that the upstream bills already; no limit of the queue refuses it. */
  run(task: Task, owner: string, how?: 'essential'): Work<Result>
  readonly waiting: number
  readonly threads: number
  close(): void
}

interface Job<Task, Result> {
  readonly task: Task
  readonly owner: string
  readonly resolve: (result: Result) => void
  readonly reject: (failure: WorkFailure) => void
  timer: NodeJS.Timeout | undefined
}

interface Member<Task, Result> {
  readonly thread: PoolThread<Task, Result>
  job: Job<Task, Result> | undefined
  idle: NodeJS.Timeout | undefined
}

/** `fail` creates the errors, so that the user of the pool decides what they mean to a client. */
export function createThreadPool<Task, Result>(
  options: PoolOptions<Task, Result>,
  fail: (reason: WorkFailure['reason'], detail?: string) => WorkFailure,
): ThreadPool<Task, Result> {
  return new Pool(options, fail)
}

class Pool<Task, Result> implements ThreadPool<Task, Result> {
  readonly #options: PoolOptions<Task, Result>
  readonly #fail: (reason: WorkFailure['reason'], detail?: string) => WorkFailure
  readonly #members = new Set<Member<Task, Result>>()
  readonly #queues = new Map<string, Job<Task, Result>[]>()
  /** When each owner with waiting or running work was served last, as a sequence number. */
  readonly #served = new Map<string, number>()
  #turn = 0
  #waiting = 0
  #closed = false

  constructor(
    options: PoolOptions<Task, Result>,
    fail: (reason: WorkFailure['reason'], detail?: string) => WorkFailure,
  ) {
    this.#options = options
    this.#fail = fail
  }

  get waiting(): number {
    return this.#waiting
  }

  get threads(): number {
    return this.#members.size
  }

  run(task: Task, owner: string, how?: 'essential'): Work<Result> {
    let job: Job<Task, Result> | undefined
    const result = new Promise<Result>((resolve, reject) => {
      const refusal = how === 'essential' ? undefined : this.#refusal(owner)
      if (refusal !== undefined || this.#closed) {
        reject(refusal ?? this.#fail('closed'))
        return
      }
      job = { task, owner, resolve, reject, timer: undefined }
      this.#enqueue(job)
    })
    this.#serve()
    return { result, cancel: () => job !== undefined && this.#cancel(job) }
  }

  close(): void {
    this.#closed = true
    for (const queue of this.#queues.values()) {
      for (const job of queue) this.#finish(job, () => job.reject(this.#fail('closed')))
    }
    this.#queues.clear()
    this.#waiting = 0
    for (const member of this.#members) this.#end(member, this.#fail('closed'))
  }

  #refusal(owner: string): WorkFailure | undefined {
    const own = this.#queues.get(owner)?.length ?? 0
    const full = own >= this.#options.waitingPerOwnerMax || this.#waiting >= this.#options.waitingMax
    return full ? this.#fail('full') : undefined
  }

  #enqueue(job: Job<Task, Result>): void {
    const queue = this.#queues.get(job.owner)
    if (queue === undefined) this.#queues.set(job.owner, [job])
    else queue.push(job)
    this.#waiting += 1
    job.timer = setTimeout(() => {
      if (this.#unqueue(job)) job.reject(this.#fail('waited'))
    }, this.#options.waitMsMax)
  }

  #unqueue(job: Job<Task, Result>): boolean {
    const queue = this.#queues.get(job.owner)
    const at = queue?.indexOf(job) ?? -1
    if (queue === undefined || at < 0) return false
    queue.splice(at, 1)
    if (queue.length === 0) this.#queues.delete(job.owner)
    this.#waiting -= 1
    clearTimeout(job.timer)
    return true
  }

  #cancel(job: Job<Task, Result>): void {
    this.#unqueue(job)
    job.reject(this.#fail('cancelled'))
  }

  /** Gives waiting work to free threads, opening as many as there may be. */
  #serve(): void {
    for (;;) {
      const job = this.#next()
      if (job === undefined) return
      const member = this.#freeMember()
      if (member === undefined) return
      this.#unqueue(job)
      this.#turn += 1
      this.#served.set(job.owner, this.#turn)
      this.#begin(member, job)
    }
  }

  /** The next job of the owner that was served longest ago and may have another thread. */
  #next(): Job<Task, Result> | undefined {
    const { threadsMax } = this.#options
    const each = Math.max(1, threadsMax - 1)
    let chosen: { readonly job: Job<Task, Result> | undefined; readonly turn: number } | undefined
    for (const [owner, [job]] of this.#queues) {
      const turn = this.#served.get(owner) ?? 0
      if (this.#runningOf(owner) < each && (chosen === undefined || turn < chosen.turn))
        chosen = { job, turn }
    }
    return chosen?.job
  }

  #runningOf(owner: string): number {
    let running = 0
    for (const { job } of this.#members) if (job?.owner === owner) running += 1
    return running
  }

  #freeMember(): Member<Task, Result> | undefined {
    for (const member of this.#members) if (member.job === undefined) return member
    if (this.#members.size >= this.#options.threadsMax) return undefined
    const member: Member<Task, Result> = { thread: this.#options.open(), job: undefined, idle: undefined }
    member.thread.events.onResult = (result) => this.#done(member, result)
    member.thread.events.onExit = (why) =>
      this.#end(member, this.#fail(why.memory ? 'memory' : 'crashed', why.message))
    this.#members.add(member)
    return member
  }

  #begin(member: Member<Task, Result>, job: Job<Task, Result>): void {
    clearTimeout(member.idle)
    member.job = job
    // A thread that does not answer cannot be asked to stop, so it is terminated.
    job.timer = setTimeout(() => this.#end(member, this.#fail('late')), this.#options.runMsMax)
    member.thread.post(job.task)
  }

  #done(member: Member<Task, Result>, result: Result): void {
    const { job } = member
    member.job = undefined
    if (job !== undefined) this.#finish(job, () => job.resolve(result))
    member.idle = setTimeout(() => this.#end(member, this.#fail('closed')), this.#options.idleMsMax)
    member.idle.unref()
    this.#serve()
  }

  /** The thread has ended, and its work is lost. */
  #end(member: Member<Task, Result>, failure: WorkFailure): void {
    if (!this.#members.delete(member)) return
    clearTimeout(member.idle)
    member.thread.end()
    const { job } = member
    member.job = undefined
    if (job !== undefined) this.#finish(job, () => job.reject(failure))
    if (!this.#closed) this.#serve()
  }

  #finish(job: Job<Task, Result>, tell: () => void): void {
    clearTimeout(job.timer)
    const { owner } = job
    if (!this.#queues.has(owner) && this.#runningOf(owner) === 0) this.#served.delete(owner)
    tell()
  }
}
