/** Puts prices into force when their moment comes. Every instance may do it: each change happens once. */
import { every } from './housekeeping.ts'
import { applyDuePrices } from '../../management/admin/prices.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'

/** How late a price may come into force. */
const LOOK_EVERY_MS = 1_000

export function keepPrices(parts: {
  readonly storage: Pick<Storage, 'prices' | 'audit' | 'catalogue'>
  readonly telemetry: Telemetry
  readonly now: () => number
}): { stop(): void } {
  const { storage, telemetry, now } = parts
  const work = async (): Promise<void> => {
    const applied = await applyDuePrices(storage, now())
    if (applied > 0) telemetry.log.info({ applied }, 'prices came into force')
  }
  const timer = every(LOOK_EVERY_MS, telemetry, { work, name: 'activation of scheduled prices' })
  return { stop: () => clearInterval(timer) }
}
