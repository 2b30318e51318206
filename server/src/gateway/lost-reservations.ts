/**
 * Reservations whose answer was lost with the connection to the store: they may have been made after all. Each is closed
 * as soon as the store answers again: first its log row, so that a reservation still on its way finds its call ended, then
 * whatever it took is given back. Without this a hold would live until its slot's 600 seconds are over.
 */
import { setTimeout } from 'node:timers/promises'
import type { AbandonOperation } from '../core/calls/operations.ts'
import type { CallStore } from '../storage/storage.ts'
import { StorageUnavailable } from '../storage/unavailable.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'

export type LostReservation = Omit<AbandonOperation, 'kind'>

export interface LostReservations {
  add(lost: LostReservation): void
  /** What is left is for recovery, which finds the calls of a process that is gone. */
  stop(): void
}

const AGAIN_AFTER_MS = 1_000
const AT_ONCE = 200
/** About 1 kB each. Past it the newest are left to recovery. */
const KEPT_MAX = 50_000

export function createLostReservations(
  storage: { readonly calls: Pick<CallStore, 'log' | 'abandon'> },
  telemetry: Telemetry,
  wait: (ms: number) => Promise<void> = (ms) => setTimeout(ms, undefined, { ref: false }),
): LostReservations {
  const waiting = new Map<string, LostReservation>()
  const stopping = new AbortController()
  let closing: Promise<void> | undefined

  const closeAll = async (): Promise<void> => {
    while (waiting.size > 0 && !stopping.signal.aborted) {
      const some = [...waiting.values()].slice(0, AT_ONCE)
      const closed = await Promise.all(some.map((lost) => closeOne(storage.calls, lost)))
      for (const [index, lost] of some.entries()) if (closed[index] === true) waiting.delete(lost.callId)
      if (closed.includes(false)) await wait(AGAIN_AFTER_MS)
    }
  }

  return {
    add(lost) {
      if (waiting.size >= KEPT_MAX || stopping.signal.aborted) return
      waiting.set(lost.callId, lost)
      closing ??= closeAll().finally(() => {
        closing = undefined
      })
      telemetry.background.track(closing, 'give back lost reservations')
    },
    stop: () => stopping.abort(),
  }
}

/** False: the store is still away. */
async function closeOne(calls: Pick<CallStore, 'log' | 'abandon'>, lost: LostReservation): Promise<boolean> {
  try {
    await calls.log({ log: lost.log })
    await calls.abandon(lost)
    return true
  } catch (error) {
    if (error instanceof StorageUnavailable) return false
    throw error
  }
}
