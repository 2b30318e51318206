/** Alerts: which are active, and who is still to be notified. */
import { type Kysely, sql, type Transaction } from 'kysely'
import { type AccountId, accountId } from '../../../core/ids.ts'
import {
  type Alert,
  type AlertFacts,
  ALERT_KINDS,
  type AlertKind,
  type AlertStore,
  type Delivery,
  type ShownAlert,
  type WatchedAccount,
} from '../../stores/customers.ts'
import { decodeAccount } from '../accounts/account-row.ts'
import type { AnnouncedWrite } from '../announced-write.ts'
import type { SqlEngine } from '../engine.ts'
import { pageLimit } from '../page.ts'
import type { Schema } from '../schema.ts'
import { parseStored } from '../stored-json.ts'
import { decodeAlerts } from './profiles.ts'

export function createAlertStore(engine: SqlEngine, write: AnnouncedWrite): AlertStore {
  const { reader } = engine
  return {
    watched: (page) => readWatched(reader, page),
    countFailures: (account, since, most) => countFailures(reader, { account, since, most }),
    raise: (alert, deliveries) =>
      write(async (transaction) => {
        const raised = await insertAlert(transaction, alert)
        if (raised && deliveries.length > 0) {
          const rows = deliveries.map((delivery) => ({
            ...delivery,
            alert_id: alert.id,
            attempts: 0,
            due_at: alert.raisedAt,
            outcome: 'waiting',
          }))
          await transaction.insertInto('alert_deliveries').values(rows).execute()
        }
        return { value: raised, changes: [] }
      }),
    clear: (account, kind, at) =>
      write(async (transaction) => {
        const { numUpdatedRows } = await transaction
          .updateTable('alerts')
          .set({ cleared_at: at })
          .where('account_id', '=', account)
          .where('kind', '=', kind)
          .where('cleared_at', 'is', null)
          .executeTakeFirst()
        return { value: numUpdatedRows > 0n, changes: [] }
      }),
    take: (at, options) =>
      write(async (transaction) => ({
        value: await takeDue(engine, transaction, { at, ...options }),
        changes: [],
      })),
    finish: (id, end) =>
      write(async (transaction) => {
        const due = end.outcome === 'waiting' ? end.dueAt : null
        await transaction
          .updateTable('alert_deliveries')
          .set({ outcome: end.outcome, due_at: due })
          .where('id', '=', id)
          .execute()
        return { value: undefined, changes: [] }
      }),
    list: (account, limit) => listAlerts(reader, account, limit),
  }
}

async function readWatched(
  reader: Kysely<Schema>,
  { limit, after }: { readonly limit: number; readonly after: string | undefined },
): Promise<readonly WatchedAccount[]> {
  const rows = await reader
    .selectFrom('watched_accounts')
    .innerJoin('accounts', 'accounts.id', 'watched_accounts.account_id')
    .innerJoin('profiles', 'profiles.account_id', 'watched_accounts.account_id')
    .selectAll('accounts')
    .select('profiles.alerts as alerts')
    .where('watched_accounts.account_id', '>', after ?? '')
    .orderBy('watched_accounts.account_id')
    .limit(pageLimit(limit))
    .execute()
  if (rows.length === 0) return []
  const standing = await reader
    .selectFrom('alerts')
    .select(['account_id', 'kind'])
    .where(
      'account_id',
      'in',
      rows.map((row) => row.id),
    )
    .where('cleared_at', 'is', null)
    .execute()
  return rows.map((row) => ({
    account: decodeAccount({ ...row }),
    alerts: decodeAlerts(row.alerts),
    standing: standing.filter((one) => one.account_id === row.id).map((one) => kindOf(one.kind)),
  }))
}

async function countFailures(
  reader: Kysely<Schema>,
  { account, since, most }: { readonly account: AccountId; readonly since: number; readonly most: number },
): Promise<number> {
  const failed = reader
    .selectFrom('call_logs')
    .select('call_id')
    .where('account_id', '=', account)
    .where('created_at', '>=', BigInt(since))
    .where('http_status', '>=', 400n)
    .limit(most)
  const row = await reader
    .selectFrom(failed.as('failed'))
    .select((select) => select.fn.countAll<bigint>().as('calls'))
    .executeTakeFirst()
  return Number(row?.calls ?? 0n)
}

async function insertAlert(transaction: Transaction<Schema>, alert: Alert): Promise<boolean> {
  const row = await transaction
    .insertInto('alerts')
    .values({
      id: alert.id,
      account_id: alert.accountId,
      kind: alert.kind,
      raised_at: alert.raisedAt,
      cleared_at: null,
      body: JSON.stringify(alert.facts),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

async function takeDue(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  { at, limit, leaseMs }: { readonly at: number; readonly limit: number; readonly leaseMs: number },
): Promise<readonly Delivery[]> {
  const due = transaction
    .selectFrom('alert_deliveries')
    .select('id')
    .where('due_at', '<=', BigInt(at))
    .orderBy('due_at')
    .limit(pageLimit(limit))
  const ids = await (engine.name === 'postgres' ? due.forUpdate().skipLocked() : due).execute()
  if (ids.length === 0) return []
  const taken = ids.map(({ id }) => id)
  await transaction
    .updateTable('alert_deliveries')
    .set({ due_at: at + leaseMs, attempts: sql<bigint>`attempts + 1` })
    .where('id', 'in', taken)
    .execute()
  const rows = await transaction
    .selectFrom('alert_deliveries')
    .innerJoin('alerts', 'alerts.id', 'alert_deliveries.alert_id')
    .select(['alert_deliveries.id', 'channel', 'target', 'attempts'])
    .select(['alerts.id as alert_id', 'account_id', 'kind', 'raised_at', 'body'])
    .where('alert_deliveries.id', 'in', taken)
    .orderBy('alert_deliveries.id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    alert: decodeAlert({ ...row, id: row.alert_id }),
    channel: channelOf(row.channel),
    target: row.target,
    attempts: Number(row.attempts),
  }))
}

async function listAlerts(
  reader: Kysely<Schema>,
  account: AccountId,
  limit: number,
): Promise<readonly ShownAlert[]> {
  const alerts = await reader
    .selectFrom('alerts')
    .selectAll()
    .where('account_id', '=', account)
    .orderBy('id', 'desc')
    .limit(pageLimit(limit))
    .execute()
  if (alerts.length === 0) return []
  const deliveries = await reader
    .selectFrom('alert_deliveries')
    .selectAll()
    .where(
      'alert_id',
      'in',
      alerts.map((alert) => alert.id),
    )
    .orderBy('id')
    .execute()
  return alerts.map((row) => ({
    ...decodeAlert(row),
    clearedAt: row.cleared_at === null ? undefined : Number(row.cleared_at),
    deliveries: deliveries
      .filter((delivery) => delivery.alert_id === row.id)
      .map((delivery) => ({
        channel: channelOf(delivery.channel),
        attempts: Number(delivery.attempts),
        outcome: outcomeOf(delivery.outcome),
      })),
  }))
}

interface AlertRow {
  readonly id: string
  readonly account_id: string
  readonly kind: string
  readonly raised_at: bigint
  readonly body: string
}

function decodeAlert(row: AlertRow): Alert {
  return {
    id: row.id,
    accountId: accountId(row.account_id),
    kind: kindOf(row.kind),
    raisedAt: Number(row.raised_at),
    facts: parseStored<AlertFacts>(row.body),
  }
}

function kindOf(text: string): AlertKind {
  const kind = ALERT_KINDS.find((one) => one === text)
  if (kind === undefined) throw new Error(`an alert has the unknown kind ${text}`)
  return kind
}

const channelOf = (text: string): Delivery['channel'] => (text === 'webhook' ? 'webhook' : 'email')
const outcomeOf = (text: string) => (text === 'sent' || text === 'failed' ? text : 'waiting')
