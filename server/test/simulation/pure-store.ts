/** The decisions alone, over maps: no database between the operations and the arithmetic. */
import { expect } from 'vitest'
import { decideBatch } from '../../src/core/calls/decide.ts'
import type {
  AccountRow,
  KeyRow,
  LimitState,
  OpenCall,
  Subject,
  Transfer,
} from '../../src/core/calls/hot-rows.ts'
import type { HotOperation, HotOutcome } from '../../src/core/calls/operations.ts'
import { recomputeAmount } from '../../src/core/pricing/price.ts'
import { createTermsReader } from '../../src/core/pricing/read-terms.ts'
import type { SimulatedStore, StoreState } from './simulation.ts'

export class PureStore implements SimulatedStore {
  readonly #reader = createTermsReader()
  readonly #keys = new Map<KeyRow['id'], KeyRow>()
  readonly #accounts = new Map<AccountRow['id'], AccountRow>()
  readonly #limitStates = new Map<Subject, LimitState>()
  readonly #openCalls = new Map<OpenCall['callId'], OpenCall>()
  readonly #pools = new Map<string, bigint>()
  readonly #booked = new Set<string>()
  readonly #ended = new Map<string, unknown>()
  #logs = 0

  async change({ keys, accounts, grants }: Parameters<SimulatedStore['change']>[0]): Promise<void> {
    for (const key of keys) this.#keys.set(key.id, key)
    for (const account of accounts) this.#accounts.set(account.id, account)
    for (const grant of grants) this.#book(grant)
  }

  async run(batch: readonly HotOperation[]): Promise<readonly HotOutcome[]> {
    const rows = {
      keys: this.#keys,
      accounts: this.#accounts,
      limitStates: this.#limitStates,
      openCalls: this.#openCalls,
    }
    const { outcomes, changes } = decideBatch(rows, batch, this.#reader)
    expect(new Set(changes.accounts.map(({ id }) => id)).size).toBe(changes.accounts.length)
    expect(new Set(changes.limitStates.map(({ subject }) => subject)).size).toBe(changes.limitStates.length)
    for (const row of changes.accounts) this.#accounts.set(row.id, row)
    for (const row of changes.limitStates) this.#limitStates.set(row.subject, row)
    for (const row of changes.openCallsPut) this.#openCalls.set(row.callId, row)
    for (const id of changes.openCallsClosed) expect(this.#openCalls.delete(id)).toBe(true)
    for (const transfer of changes.transfers) this.#book(transfer)
    for (const { id, patch } of changes.videosEnded) {
      expect(this.#ended.has(id)).toBe(false)
      this.#ended.set(id, patch)
    }
    for (const { recipe, amount } of changes.logs) {
      if (recipe !== undefined) expect(recomputeAmount(recipe)).toBe(amount)
    }
    this.#logs += changes.logs.length
    return outcomes
  }

  async read(): Promise<StoreState> {
    return {
      accounts: this.#accounts,
      limitStates: this.#limitStates,
      openCalls: this.#openCalls,
      pools: this.#pools,
      logs: this.#logs,
      ended: this.#ended,
    }
  }

  #book(transfer: Transfer): void {
    const name = `${transfer.transactionId}#${transfer.sequence}`
    expect(this.#booked.has(name)).toBe(false)
    this.#booked.add(name)
    expect(transfer.amount > 0n).toBe(true)
    this.#add(transfer.debit, -transfer.amount)
    this.#add(transfer.credit, transfer.amount)
  }

  #add(pool: string, amount: bigint): void {
    this.#pools.set(pool, (this.#pools.get(pool) ?? 0n) + amount)
  }
}
