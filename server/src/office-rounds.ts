/** What the back office does by itself, whoever is signed in. Every instance may do it: each act happens once. */
import type { Catalogue } from './core/catalogue.ts'
import { every } from './housekeeping.ts'
import { renewDue } from './management/subscriptions.ts'
import type { Storage } from './storage/storage.ts'
import type { Telemetry } from './telemetry/telemetry.ts'

/** A third of the lead with which plans are renewed, so that no round that comes late leaves a gap. */
const RENEWAL_EVERY_MS = 20_000

export interface OfficeRounds {
  stop(): void
}

export function keepOffice(office: {
  readonly storage: Pick<Storage, 'office'>
  readonly catalogue: () => Catalogue
  readonly telemetry: Telemetry
  readonly now: () => number
}): OfficeRounds {
  const { storage, catalogue, telemetry, now } = office
  const renew = async (): Promise<void> => {
    const round = await renewDue(storage, catalogue(), now())
    if (round.renewed + round.failed > 0) telemetry.log.info({ ...round }, 'subscriptions were due')
  }
  const timer = every(RENEWAL_EVERY_MS, telemetry, { work: renew, name: 'renewal of subscriptions' })
  return { stop: () => clearInterval(timer) }
}
