/** What an instance does so that others know it lives, and for those that live no more (`core/instances/watch.ts`). */
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
  readonly telemetry: Pick<Telemetry, 'log'>
  readonly instance: InstanceId
  readonly isRunning: (callId: CallId) => boolean
  /** Epoch ms. */
  readonly now: () => number
  /** ms of a clock that only goes forward. */
  readonly elapsed: () => number
  readonly periods: WatchPeriods
}

/** A slot that nobody renews lives 600 s (docs/reference/contract.md#8-06). */
const LEAKED_AFTER_MS = 600_000
/** Told to begin a new epoch it beats again at once; who is told so again and again waits for the next round. */
const EPOCHS_AT_ONCE = 3

/** Logged by whoever takes over. */
export const TOOK_OVER = 'took over from processes that died or stopped reporting, and ended their calls'
/** Logged by whom others took over from. */
export const WAS_TAKEN_OVER =
  'this process was taken over, because its heartbeat stopped for too long: others ended its calls at their ' +
  'last known usage; calls that still run here are charged in full when they end'

export class InstanceRounds {
  readonly #options: InstanceRoundsOptions
  #watch: Watch = NOT_WATCHING
  #epoch = 1
  #begun = false

  constructor(options: InstanceRoundsOptions) {
    this.#options = options
  }

  /** The store takes beats, and what calls write; one that hangs takes none. */
  canWrite(): boolean {
    const { calls, elapsed, periods } = this.#options
    const { beatAt } = this.#watch
    return beatAt !== undefined && elapsed() - beatAt <= periods.silentMs && calls.canWrite()
  }

  /** Rejects when it could not be written. */
  async beat(): Promise<void> {
    const { calls, elapsed, periods } = this.#options
    try {
      await this.#beatOnce()
    } catch (error) {
      this.#watch = noteFailedBeat()
      throw error
    }
    this.#watch = noteBeat(this.#watch, elapsed(), periods)
    // Not ready, this process gets no calls that would find out that the store takes them again.
    if (!calls.canWrite()) await calls.tryWriting()
  }

  /** Takes over from those that have ended or fallen silent. */
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

  /** Ends what this process has open without knowing of it any more. */
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

  async #beatOnce(): Promise<void> {
    const { calls, instance, now } = this.#options
    for (let tries = 0; tries < EPOCHS_AT_ONCE; tries += 1) {
      const outcome = await calls.heartbeat(instance, now(), this.#epoch)
      if (outcome.kind === 'beaten') {
        // Whoever took over has forgotten it since.
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
