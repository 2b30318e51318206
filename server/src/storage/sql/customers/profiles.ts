/** What accounts say about themselves. */
import type { Kysely, Transaction } from 'kysely'
import type { AccountId } from '../../../core/ids.ts'
import { microCredits } from '../../../core/money.ts'
import type { AlertSettings, ProfileStore } from '../../stores/customers.ts'
import type { AnnouncedWrite } from '../announced-write.ts'
import type { Schema } from '../schema.ts'
import { parseStored } from '../stored-json.ts'

/** As JSON keeps it: `undefined` is absent, money is text. */
interface StoredAlerts {
  readonly email: boolean
  readonly lowCredits?: string
  readonly failuresPerHour?: number
  readonly webhookUrl?: string
  /** Absent in older rows, which means not set. */
  readonly receipts?: boolean
}

export function createProfileStore(reader: Kysely<Schema>, write: AnnouncedWrite): ProfileStore {
  return {
    async find(account) {
      const row = await reader
        .selectFrom('profiles')
        .selectAll()
        .where('account_id', '=', account)
        .executeTakeFirst()
      if (row === undefined) return undefined
      return {
        name: row.name ?? undefined,
        language: row.language ?? undefined,
        timezone: row.timezone ?? undefined,
        alerts: decodeAlerts(row.alerts),
      }
    },
    put: (account, { name, language, timezone, alerts }) =>
      write(async (transaction) => {
        const row = {
          name: name ?? null,
          language: language ?? null,
          timezone: timezone ?? null,
          alerts: encodeAlerts(alerts),
        }
        await transaction
          .insertInto('profiles')
          .values({ account_id: account, ...row })
          .onConflict((conflict) => conflict.column('account_id').doUpdateSet(row))
          .execute()
        await watch(transaction, account, isWatching(alerts))
        return { value: undefined, changes: [] }
      }),
  }
}

function encodeAlerts(alerts: AlertSettings): string {
  return JSON.stringify({ ...alerts, lowCredits: alerts.lowCredits?.toString() })
}

/** Whether the profile asks for any notification. */
function isWatching(alerts: AlertSettings): boolean {
  const has = alerts.lowCredits !== undefined || alerts.failuresPerHour !== undefined
  return has && (alerts.email || alerts.webhookUrl !== undefined)
}

async function watch(transaction: Transaction<Schema>, id: AccountId, watched: boolean): Promise<void> {
  if (!watched) {
    await transaction.deleteFrom('watched_accounts').where('account_id', '=', id).execute()
    return
  }
  await transaction
    .insertInto('watched_accounts')
    .values({ account_id: id })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export function decodeAlerts(text: string): AlertSettings {
  const stored = parseStored<StoredAlerts>(text)
  return {
    email: stored.email,
    lowCredits: stored.lowCredits === undefined ? undefined : microCredits(BigInt(stored.lowCredits)),
    failuresPerHour: stored.failuresPerHour,
    webhookUrl: stored.webhookUrl,
    receipts: stored.receipts ?? true,
  }
}
