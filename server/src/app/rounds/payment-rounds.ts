import { every } from './housekeeping.ts'
import { type Cashier, checkLateTopUps } from '../../management/top-up/cashier.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'

const LATE_TOP_UPS_EVERY_MS = 300_000

/** Asks the payment provider about overdue payments. Every instance does it, but each payment is booked once. */
export function keepPayments(cashier: Cashier, telemetry: Telemetry): { stop(): void } {
  if (cashier.driver === undefined) return { stop: () => undefined }
  const work = async (): Promise<void> => {
    await checkLateTopUps(cashier)
  }
  const timer = every(LATE_TOP_UPS_EVERY_MS, telemetry, { work, name: 'asking for late top-ups' })
  return { stop: () => clearInterval(timer) }
}
