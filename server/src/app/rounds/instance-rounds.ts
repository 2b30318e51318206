/** An instance's heartbeat, and taking over from instances that have ended (`core/instances/watch.ts`). */
import type { CallId, InstanceId } from '../../core/ids.ts'
import {
  lookAround,
  NOT_WATCHING,
  noteBeat,
  noteFailedBeat,
  type Watch,
  type WatchPeriods,
} from '../../core/instances/watch.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import type { CallStore } from '../../storage/stores/calls.ts'

export interface InstanceRoundsOptions {
  readonly calls: Pick<
    CallStore,
    'canWrite' | 'tryWriting' | 'heartbeat' | 'readInstances' | 'takeOver' | 'recoverLeaked'
  >
  readonly telemetry: Pick<Telemetry, 'log' | 'background'>
  readonly instance: InstanceId
  readonly isRunning: (callId: CallId) => boolean
  /** Epoch ms. */
  readonly now: () => number
  /** ms of a monotonic clock. */
  readonly elapsed: () => number
  readonly periods: WatchPeriods
}

/** A slot that is not renewed lasts 600 s (docs/reference/contract.md#8-06). */
const LEAKED_AFTER_MS = 600_000
/** When told to begin a new epoch, it beats again at once; after this many times it waits for the next round. */
const EPOCHS_AT_ONCE = 3

/** Logged by the instance that takes over. */
export const TOOK_OVER = 'took over from processes that died or stopped reporting, and ended their calls'
/** Logged by the instance that was taken over. */
export const WAS_TAKEN_OVER =
  'this process was taken over, because its heartbeat stopped for too long: others ended its calls at their ' +
  'last known usage; calls that still run here are charged in full when they end'

export class InstanceRounds {
  readonly #options: InstanceRoundsOptions
  #watch: Watch = NOT_WATCHING
  #epoch = 1
  #begun = false
  #checking = false

  constructor(options: InstanceRoundsOptions) {
    this.#options = options
  }

  /** The store accepts heartbeats and the writes of calls; a hanging one does not. */
  canWrite(): boolean {
    const { calls, elapsed, periods } = this.#options
    const { beatAt } = this.#watch
    return beatAt !== undefined && elapsed() - beatAt <= periods.silentMs && calls.canWrite()
  }

  /** Rejects if it could not be written. */
  async beat(): Promise<void> {
    const { elapsed, periods } = this.#options
    try {
      await this.#beatOnce()
    } catch (error) {
      this.#watch = noteFailedBeat()
      throw error
    }
    this.#watch = noteBeat(this.#watch, elapsed(), periods)
    this.#checkWrites()
  }

  /** Takes over from instances that have ended or are silent. */
  async lookAround(): Promise<void> {
    const { calls, telemetry, instance, now, elapsed, periods } = this.#options
    const instances = await calls.readInstances()
    const seen = lookAround(this.#watch, { at: elapsed(), own: instance, instances }, periods)
    this.#watch = seen.watch
    if (seen.silent.length === 0) return
    const ended = await calls.takeOver(seen.silent, now())
    if (ended > 0)
      telemetry.log.warn(
        { ended, instances: seen.silent.filter(({ hasCalls }) => hasCalls).map(({ id }) => id) },
        TOOK_OVER,
      )
  }

  /** Ends open calls of this process that it no longer runs. */
  async endLeaked(): Promise<void> {
    const { calls, telemetry, instance, now, isRunning } = this.#options
    const at = now()
    const startedBefore = at - LEAKED_AFTER_MS
    const ended = await calls.recoverLeaked({ instance, at, startedBefore, isRunning })
    if (ended.length > 0)
      telemetry.log.error(
        { calls: ended.slice(0, 20), count: ended.length },
        'ended calls that this process had left open',
      )
  }

  /**
   * While not ready, this process gets no calls that would notice that the store accepts writes again. The next heartbeat
   * does not wait for this.
   */
  #checkWrites(): void {
    const { calls, telemetry } = this.#options
    if (this.#checking || calls.canWrite()) return
    this.#checking = true
    const checked = calls.tryWriting().finally(() => {
      this.#checking = false
    })
    telemetry.background.track(checked, 'check that the store accepts writes')
  }

  async #beatOnce(): Promise<void> {
    const { calls, instance, now } = this.#options
    for (let tries = 0; tries < EPOCHS_AT_ONCE; tries += 1) {
      const outcome = await calls.heartbeat(instance, now(), this.#epoch)
      if (outcome.kind === 'beaten') {
        // The instance that took over has removed the row since.
        if (outcome.first && this.#begun && tries === 0) this.#warnTakenOver()
        this.#begun = true
        return
      }
      this.#epoch = outcome.epoch
      this.#warnTakenOver()
    }
    throw new Error('other processes keep taking over from this one')
  }

  #warnTakenOver(): void {
    this.#options.telemetry.log.warn({ instance: this.#options.instance, epoch: this.#epoch }, WAS_TAKEN_OVER)
  }
}
