/**
 * An engine with its database. Batches go straight to the engine; the back office works over an opening of its own, as
 * another process would, so that whatever the engine remembers between batches has to notice.
 */

import type { AccountRow, KeyRow } from '../../src/core/calls/hot-rows.ts'
import type { HotOperation, HotOutcome, ReserveOperation } from '../../src/core/calls/operations.ts'
import { accountId, instanceId, keyId, type VendorCode } from '../../src/core/ids.ts'
import { Secret } from '../../src/core/secret.ts'
import { exampleTask } from '../../src/storage/conformance/videos.ts'
import { openStorage } from '../../src/storage/open.ts'
import { decodeAccountRow } from '../../src/storage/sql/account-row.ts'
import type { SqlEngine } from '../../src/storage/sql/engine.ts'
import { decodeLimitState } from '../../src/storage/sql/limit-state-row.ts'
import { decodeOpenCall } from '../../src/storage/sql/open-call-row.ts'
import { integerOf, type StoredRow, textOf } from '../../src/storage/sql/table.ts'
import { decodeVideoTask } from '../../src/storage/sql/video-task-row.ts'
import type { Storage } from '../../src/storage/storage.ts'
import type { SimulatedStore, StoreState } from './simulation.ts'

export class EngineStore implements SimulatedStore {
  readonly #engine: SqlEngine
  readonly #office: Storage
  readonly #known = new Map<string, string>()
  readonly #ordered = new Set<string>()

  private constructor(engine: SqlEngine, office: Storage) {
    this.#engine = engine
    this.#office = office
  }

  static async open(
    where: { readonly dataDir: string; readonly databaseUrl: string | undefined },
    openEngine: () => Promise<SqlEngine>,
  ): Promise<EngineStore> {
    const office = await openStorage({
      ...where,
      secretKey: new Uint8Array(32).fill(1),
      instanceId: instanceId('office'),
      now: () => 0,
      log: { warn: () => undefined },
    })
    return new EngineStore(await openEngine(), office)
  }

  async change({ keys, accounts, grants }: Parameters<SimulatedStore['change']>[0]): Promise<void> {
    for (const account of accounts) {
      if (this.#isNew(`account ${account.id}`, account)) await this.#changeAccount(account)
    }
    for (const key of keys) if (this.#isNew(`key ${key.id}`, key)) await this.#changeKey(key)
    for (const grant of grants) await this.#office.ledger.book([grant])
  }

  async run(batch: readonly HotOperation[]): Promise<readonly HotOutcome[]> {
    const results = await this.#engine.runHot(batch)
    const outcomes = results.map((result) => {
      if (result.kind === 'impossible') throw new Error(result.message)
      return result.outcome
    })
    for (const [index, operation] of batch.entries()) {
      const reserved = outcomes[index]?.kind === 'reserved'
      if (operation.kind === 'reserve' && reserved && operation.counts.videos > 0)
        await this.#orderOnce(operation)
    }
    return outcomes
  }

  /** Every video is a task from its reservation on; a repeated reservation orders nothing. */
  async #orderOnce({ callId, instanceId: instance, keyId: key, accountId: account }: ReserveOperation) {
    const id = `video_of_${callId}`
    if (this.#ordered.has(id)) return
    this.#ordered.add(id)
    const task = exampleTask(id, { callId, keyId: key, accountId: account })
    await this.#office.videos.create(task, undefined, { instance, until: 0 })
  }

  async read(): Promise<StoreState> {
    const { reader } = this.#engine
    const [accounts, limitStates, openCalls, transfers, logs, ended] = await Promise.all([
      reader.selectFrom('accounts').selectAll().execute(),
      reader.selectFrom('limit_states').selectAll().execute(),
      reader.selectFrom('open_calls').selectAll().execute(),
      reader.selectFrom('transfers').select(['debit', 'credit', 'amount']).execute(),
      reader.selectFrom('call_logs').select('call_id').execute(),
      reader.selectFrom('video_tasks').selectAll().where('phase', '=', 'ended').execute(),
    ])
    const pools = new Map<string, bigint>()
    for (const row of transfers.map(storedRow)) {
      const amount = integerOf(row, 'amount')
      for (const [side, signed] of [
        ['debit', -amount],
        ['credit', amount],
      ] as const) {
        const pool = textOf(row, side)
        pools.set(pool, (pools.get(pool) ?? 0n) + signed)
      }
    }
    return {
      accounts: byKey(
        accounts.map((row) => decodeAccountRow(storedRow(row))),
        ({ id }) => id,
      ),
      limitStates: byKey(
        limitStates.map((row) => decodeLimitState(storedRow(row))),
        ({ subject }) => subject,
      ),
      openCalls: byKey(
        openCalls.map((row) => decodeOpenCall(storedRow(row))),
        ({ callId }) => callId,
      ),
      pools,
      logs: logs.length,
      ended: new Map(
        ended.map((row) => decodeVideoTask(storedRow(row))).map(({ id, progress }) => [id, { progress }]),
      ),
    }
  }

  /** Recomputes everything from the entries; anything it finds is a failure. */
  verify(): ReturnType<Storage['ledger']['verify']> {
    return this.#office.ledger.verify()
  }

  async close(): Promise<void> {
    await this.#engine.close()
    await this.#office.close()
  }

  /** Money is no part of what the back office writes. */
  #isNew(name: string, row: AccountRow | KeyRow): boolean {
    const text = JSON.stringify(row, (field, value: unknown) =>
      MONEY.has(field) ? undefined : typeof value === 'bigint' ? value.toString() : value,
    )
    if (this.#known.get(name) === text) return false
    this.#known.set(name, text)
    return true
  }

  async #changeAccount(row: AccountRow): Promise<void> {
    const { accounts } = this.#office
    const {
      id,
      status,
      verification,
      userRate,
      apiDeduction,
      monthlyCap,
      autoExchange,
      subscription,
      policy,
    } = row
    const patch = {
      status,
      verification,
      userRate,
      apiDeduction,
      monthlyCap,
      autoExchange,
      subscription,
      policy,
    }
    if ((await accounts.find(id)) === undefined) await accounts.create({ id, createdAt: 0, ...patch })
    else await accounts.patch(id, patch)
    const had = new Set((await accounts.listByok(id)).map(({ vendor }) => vendor))
    const has = new Set<VendorCode>(row.byokVendors)
    for (const vendor of has) {
      if (!had.has(vendor)) {
        await accounts.putByok(id, vendor, { secret: new Secret('own'), fields: {} }, { enabled: true })
      }
    }
    for (const vendor of had) if (!has.has(vendor)) await accounts.removeByok(id, vendor)
  }

  async #changeKey({ id, accountId: account, status, expiresAt, policy }: KeyRow): Promise<void> {
    const { keys } = this.#office
    if ((await keys.find(id)) === undefined) {
      await keys.create({
        id: keyId(id),
        accountId: accountId(account),
        name: id,
        hash: id.padEnd(64, '0'),
        hint: id,
        status,
        createdAt: 0,
        expiresAt,
        group: undefined,
        models: [],
        ipAllow: [],
        policy,
      })
    } else await keys.patch(id, { status, expiresAt, policy })
  }
}

const MONEY: ReadonlySet<string> = new Set([
  'credits',
  'held',
  'balance',
  'monthStart',
  'monthSpent',
  'monthHeld',
])

/** Both drivers read integers as bigints and everything else as text or null. */
function storedRow(row: object): StoredRow {
  return { ...row }
}

function byKey<Key, Row>(rows: readonly Row[], keyOf: (row: Row) => Key): ReadonlyMap<Key, Row> {
  return new Map(rows.map((row) => [keyOf(row), row]))
}
