/**
 * Decides which instances may be taken over. An instance is judged by its observed heartbeats, never by its clock: it
 * is silent if this process has watched it for a whole period, with heartbeats of its own and without a gap, and its
 * row has not changed. So after an outage in which no instance could write a heartbeat, and after a pause of this
 * process, every instance has a whole period to write one again.
 */
import type { InstanceId } from '../ids.ts'

/** One instance as the store reports it. */
export interface SeenInstance {
  readonly id: InstanceId
  /** Raised by the instance that takes over from it; undefined: it has calls but no row. */
  readonly epoch: number | undefined
  /** Changes with every beat. */
  readonly beats: number
  /** Epoch ms by its own clock. */
  readonly beatAt: number
  /** The operating system reports that its process has ended. */
  readonly gone: boolean
  /** Calls that only their process can end: those of tasks that continue elsewhere are left out. */
  readonly hasCalls: boolean
}

export interface WatchPeriods {
  /** A longer time between two beats of this process is a gap, ms. */
  readonly gapMs: number
  /** How long an instance has to be silent, ms. */
  readonly silentMs: number
}

/** All times are from a monotonic clock, ms. */
export interface Watch {
  /** The last beat of this process that was written; undefined: none since the last one that failed. */
  readonly beatAt: number | undefined
  /** The state of each instance and since when it has been unchanged. */
  readonly seen: ReadonlyMap<InstanceId, { readonly mark: string; readonly since: number }>
}

export const NOT_WATCHING: Watch = { beatAt: undefined, seen: new Map() }

/**
 * Call after a beat of this process. A late beat means that this process was paused: earlier observations no longer
 * count.
 */
export function noteBeat(watch: Watch, at: number, { gapMs }: WatchPeriods): Watch {
  const isSteady = watch.beatAt !== undefined && at - watch.beatAt <= gapMs
  return { beatAt: at, seen: isSteady ? watch.seen : NOT_WATCHING.seen }
}

/** Call after a beat that could not be written: perhaps no instance could write. */
export const noteFailedBeat = (): Watch => NOT_WATCHING

/**
 * The instances to take over from now: those whose process is known to have ended at once, others when they have been
 * silent for long enough.
 */
export function lookAround(
  watch: Watch,
  now: { readonly at: number; readonly own: InstanceId; readonly instances: readonly SeenInstance[] },
  { gapMs, silentMs }: WatchPeriods,
): { readonly watch: Watch; readonly silent: readonly SeenInstance[] } {
  const { at, own } = now
  const others = now.instances.filter(({ id }) => id !== own)
  // Without a recent beat of its own it cannot know which instance is cut off.
  if (watch.beatAt === undefined || at - watch.beatAt > gapMs)
    return { watch: NOT_WATCHING, silent: others.filter(({ gone }) => gone) }
  const seen = new Map(
    others.map((instance) => {
      const mark = `${instance.epoch ?? '-'}/${instance.beats}/${instance.beatAt}`
      const before = watch.seen.get(instance.id)
      return [instance.id, before?.mark === mark ? before : { mark, since: at }]
    }),
  )
  const silent = others.filter(({ id, gone }) => gone || at - (seen.get(id)?.since ?? at) >= silentMs)
  return { watch: { ...watch, seen }, silent }
}
