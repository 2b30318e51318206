/** Compares the sums by half-hours with the calls of the log, collected while the log is read for the charges. */
import { type Kysely, sql } from 'kysely'
import type { CallLogRow } from '../../../core/ledger/log-row.ts'
import { USAGE_SUMS } from '../migrations/usage-half-hours.ts'
import type { Schema } from '../schema.ts'
import { readKeptSince } from '../usage/kept-since.ts'
import { halfHourOf, type UsageSum, usageOf } from '../usage/usage-row.ts'
import type { Differences } from './differences.ts'

/**
 * The totals of the log, by half-hour and by account: calls that were summed for another account or time show up in one
 * of the two, and the memory used grows with neither the calls nor their applications.
 */
class LoggedUsage {
  readonly #byTime = new Map<string, readonly bigint[]>()
  readonly #byAccount = new Map<string, readonly bigint[]>()
  readonly #keptSince: number

  /** Half-hours that began before the log was shortened are not compared. */
  constructor(keptSince: number) {
    this.#keptSince = keptSince
  }

  add(log: CallLogRow): void {
    const at = halfHourOf(log.createdAt)
    if (at < this.#keptSince) return
    const used = usageOf(log)
    addTo(this.#byTime, String(at), used)
    addTo(this.#byAccount, log.accountId ?? '', used)
  }

  async compare(snapshot: Kysely<Schema>, differences: Differences): Promise<void> {
    const since = this.#keptSince
    const byTime = await readSums(snapshot, since, 'at')
    compareAll('usage', { logged: this.#byTime, summed: byTime, differences })
    const byAccount = await readSums(snapshot, since, 'account_id')
    compareAll('usage of account', { logged: this.#byAccount, summed: byAccount, differences })
  }
}

export async function openLoggedUsage(snapshot: Kysely<Schema>): Promise<LoggedUsage> {
  return new LoggedUsage(await readKeptSince(snapshot))
}

function addTo(all: Map<string, readonly bigint[]>, key: string, used: readonly bigint[]): void {
  const before = all.get(key)
  all.set(key, before === undefined ? used : before.map((sum, index) => sum + (used[index] ?? 0n)))
}

type SumsRow = Readonly<Record<UsageSum, string>> & { readonly part: string }

async function readSums(
  snapshot: Kysely<Schema>,
  since: number,
  column: 'at' | 'account_id',
): Promise<ReadonlyMap<string, readonly bigint[]>> {
  const sums = USAGE_SUMS.map((name) => sql`cast(sum(${sql.ref(name)}) as text) as ${sql.ref(name)}`)
  const { rows } = await sql<SumsRow>`
    select cast(${sql.ref(column)} as text) as part, ${sql.join(sums)} from usage_half_hours
    where at >= ${since} group by ${sql.ref(column)} order by ${sql.ref(column)}`.execute(snapshot)
  return new Map(rows.map((row) => [row.part, USAGE_SUMS.map((name) => BigInt(row[name]))]))
}

interface Compared {
  readonly logged: ReadonlyMap<string, readonly bigint[]>
  readonly summed: ReadonlyMap<string, readonly bigint[]>
  readonly differences: Differences
}

function compareAll(what: string, { logged, summed, differences }: Compared): void {
  for (const part of new Set([...logged.keys(), ...summed.keys()])) {
    USAGE_SUMS.forEach((name, index) => {
      const expected = logged.get(part)?.[index] ?? 0n
      const found = summed.get(part)?.[index] ?? 0n
      differences.compare({ subject: `${what}:${part}`, what: name, expected, found })
    })
  }
}
