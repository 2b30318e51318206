/** What the calls of one hot batch add to the sums by half-hours: one row for all calls with the same key. */
import type { CallLogRow } from '../../../core/ledger/log-row.ts'
import { indexableText } from '../free-text.ts'
import { USAGE_NAME_MAX } from '../migrations/usage-half-hours.ts'
import { halfHourOf, type UsageKey, usageOf, type UsageRow } from './usage-row.ts'

/**
 * Names that clients choose freely (their applications, models that do not exist) which are kept apart for one account
 * and half-hour, by each process; further names are summed under one name, so that invented names cannot fill the disk.
 */
const NAMES_APART_MAX = 100
const OTHER_NAMES = '(other)'

/** For all accounts: some 20 MB if all names have the maximum length. Beyond that, the set is cleared. */
const NAMES_REMEMBERED_MAX = 20_000

/** Number of rows over which calls without an account are spread; with one row, instances would wait for each other. */
const LANES = 16

/**
 * Characters of a name in the key: PostgreSQL keeps no key of more than 2 704 bytes. The request pipeline shortens
 * names in the same way.
 */
function nameOf(text: string | undefined): string {
  return text === undefined ? '' : indexableText(text).slice(0, USAGE_NAME_MAX)
}

interface Growing {
  readonly key: UsageKey
  readonly vendorCode: string | undefined
  readonly sums: bigint[]
}

/** A log row that is rewritten: the sums lose the former values and gain the new ones. */
export interface ReplacedLog {
  readonly before: CallLogRow
  readonly after: CallLogRow
}

/** Rows of the same call. */
export function pairLogs(
  before: readonly CallLogRow[],
  after: readonly CallLogRow[],
): readonly ReplacedLog[] {
  const byCall = new Map(after.map((log) => [log.callId, log]))
  return before.flatMap((log) => {
    const corrected = byCall.get(log.callId)
    return corrected === undefined ? [] : [{ before: log, after: corrected }]
  })
}

/** In place: all calls of a batch go into few rows. */
function addTo(sums: bigint[], added: readonly bigint[]): void {
  for (let at = 0; at < added.length; at += 1) {
    const more = added[at] ?? 0n
    if (more !== 0n) sums[at] = (sums[at] ?? 0n) + more
  }
}

/** What keeps the sums of two calls apart; the lane follows from the account. */
const APART = ['at', 'accountId', 'keyId', 'model', 'appId', 'chainId', 'creditsPerUnit'] as const

function isSame(one: UsageKey, other: UsageKey): boolean {
  return APART.every((part) => one[part] === other[part])
}

export class UsageSummer {
  readonly #names = new Map<string, Set<string>>()
  #remembered = 0

  /** In the same order everywhere: a writer of two of these rows locks them in this order. */
  sum(logs: readonly CallLogRow[], replaced: readonly ReplacedLog[] = []): readonly UsageRow[] {
    const rows = new Map<string, Growing>()
    const lane = Math.floor(Math.random() * LANES)
    let latest: Growing | undefined
    const add = (log: CallLogRow, added: bigint[]) => {
      const key = this.#keyOf(log, lane)
      // Calls that end together mostly have the same key, and the text of one costs more than the sums.
      if (latest !== undefined && isSame(latest.key, key)) return addTo(latest.sums, added)
      const name = APART.map((part) => key[part]).join('\0')
      latest = rows.get(name)
      if (latest !== undefined) return addTo(latest.sums, added)
      latest = { key, vendorCode: log.vendorCode, sums: added }
      rows.set(name, latest)
    }
    for (const log of logs) add(log, usageOf(log))
    for (const { before, after } of replaced) {
      add(
        before,
        usageOf(before).map((sum) => -sum),
      )
      add(after, usageOf(after))
    }
    return [...rows].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row)
  }

  #keyOf(log: CallLogRow, lane: number): UsageKey {
    const at = halfHourOf(log.createdAt)
    const accountId = log.accountId ?? ''
    let model = nameOf(log.model ?? log.modelRequested)
    let appId = nameOf(log.appId)
    const invented = log.model === undefined ? model : ''
    if (!this.#isApart(`${at} ${accountId}`, invented, appId)) {
      if (invented !== '') model = OTHER_NAMES
      if (appId !== '') appId = OTHER_NAMES
    }
    return {
      at,
      accountId,
      keyId: log.keyId ?? '',
      model,
      appId,
      chainId: log.chainId ?? 0,
      creditsPerUnit: log.recipe?.creditsPerUnit ?? '',
      lane: accountId === '' ? lane : 0,
    }
  }

  #isApart(place: string, model: string, appId: string): boolean {
    if (model === '' && appId === '') return true
    const name = `${model}\0${appId}`
    const names = this.#names.get(place)
    if (names?.has(name) === true) return true
    if (names !== undefined && names.size >= NAMES_APART_MAX) return false
    if (this.#remembered >= NAMES_REMEMBERED_MAX) {
      this.#names.clear()
      this.#remembered = 0
    }
    this.#remembered += 1
    const kept = this.#names.get(place)
    if (kept === undefined) this.#names.set(place, new Set([name]))
    else kept.add(name)
    return true
  }
}
