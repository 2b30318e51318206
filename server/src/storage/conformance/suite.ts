/** What the parts of the conformance suite share: a database to open, and rows to start from. */
import { ACCOUNT, credits, exampleReserve, exampleSettle, KEY } from '../../core/calls/examples.ts'
import { type AccountId, accountId, type CallId, type InstanceId, instanceId, keyId } from '../../core/ids.ts'
import type { SeenInstance } from '../../core/instances/watch.ts'
import type { Transfer } from '../../core/ledger/hot-rows.ts'
import type { SettleOperation } from '../../core/ledger/operations.ts'
import { AMOUNT_MAX, type MicroCredits, microCredits } from '../../core/money.ts'
import type { Announcement } from '../announcement.ts'
import type { Storage } from '../storage.ts'
import type { AccountPatch } from '../stores/accounts.ts'
import type { Key } from '../stores/keys.ts'

export interface StorageSuite {
  /**
   * A database with all tables and no rows, or, `empty`, one that was never opened; connections are closed and it is
   * removed when the test ends.
   */
  createDatabase(state?: DatabaseState): Promise<DatabaseUnderTest>
}

export type DatabaseState = 'migrated' | 'empty'

export interface DatabaseUnderTest {
  open(options?: OpenForTest): Promise<Storage>
  /** Runs a statement without going through the storage. */
  execute(sql: string): Promise<void>
  /** Everything stored in the database, as text to search. */
  dump(): Promise<string>
  remove(): Promise<void>
}

export interface OpenForTest {
  readonly instanceId?: InstanceId
  /** Value of every byte of the secret key. */
  readonly secretKeyByte?: number
  /** Its clock, epoch ms; absent: that of the examples. */
  readonly now?: number
}

/** The time of the examples, epoch ms. */
export const NOW = 1_000_000
export const INSTANCE = instanceId('instance_1')

export async function openWithAccount(
  suite: StorageSuite,
  account: AccountPatch & { readonly credits?: MicroCredits } = {},
): Promise<{ readonly database: DatabaseUnderTest; readonly storage: Storage }> {
  const database = await suite.createDatabase()
  const storage = await database.open()
  await createAccount(storage, account)
  await storage.keys.create(exampleApiKey())
  return { database, storage }
}

export async function createAccount(
  storage: Storage,
  {
    credits: opening = credits(1000),
    id = ACCOUNT,
    ...patch
  }: AccountPatch & { readonly credits?: MicroCredits; readonly id?: AccountId } = {},
): Promise<void> {
  await storage.accounts.create({ id, createdAt: NOW, ...patch })
  // One booking is limited; an opening this large is booked in several.
  for (let left: bigint = opening, part = 0; left > 0n; left -= AMOUNT_MAX, part++) {
    const amount = microCredits(left < AMOUNT_MAX ? left : AMOUNT_MAX)
    await storage.ledger.book([
      exampleGrant(id, { amount, transactionId: part === 0 ? `opening-${id}` : `opening-${id}-${part}` }),
    ])
  }
}

export function exampleGrant(id: AccountId, changes: Partial<Transfer> = {}): Transfer {
  return {
    transactionId: `opening-${id}`,
    sequence: 0,
    at: NOW,
    debit: 'platform/grants',
    credit: `${id}/credits`,
    amount: credits(1),
    kind: 'grant',
    reference: undefined,
    ...changes,
  }
}

export function exampleApiKey(changes: Partial<Key> = {}): Key {
  return {
    id: KEY,
    accountId: ACCOUNT,
    memberId: undefined,
    sessionId: undefined,
    name: 'laptop',
    hash: '1'.repeat(64),
    hint: 'sk-gateway-abcdef',
    status: 'enabled',
    createdAt: NOW,
    expiresAt: undefined,
    group: undefined,
    models: [],
    ipAllow: [],
    policy: undefined,
    ...changes,
  }
}

/** Settles an example call at 1 000 tokens in and 100 out: 2 Credits. */
export function settleTwoCredits(id: string, changes: Partial<SettleOperation> = {}): SettleOperation {
  return exampleSettle(id, { usage: { input: 1000, output: 100 } }, changes)
}

export const TWO_CREDITS = credits(2)

/** Reserves every call at once; returns how many passed. */
export async function countReserved(storages: readonly Storage[], calls: number): Promise<number> {
  const outcomes = await Promise.all(
    storages.flatMap((storage, index) =>
      Array.from({ length: calls }, (_, call) =>
        storage.calls.reserve(exampleReserve(`call_${index}_${call}`)),
      ),
    ),
  )
  return outcomes.filter(({ kind }) => kind === 'reserved').length
}

export const OTHER_ACCOUNT = accountId('acc_2')
export const OTHER_KEY = keyId('key_2')

/**
 * Takes over from all instances whose last beat is older than `deadBefore`, and has all others end the calls they have
 * had open since before `leakedBefore`. Returns how many calls were ended.
 */
export async function recover(
  { calls }: Pick<Storage, 'calls'>,
  bounds: {
    readonly at: number
    readonly deadBefore: number
    readonly leakedBefore: number
    /** Whether the instances' processes run the call; absent: they run none. */
    readonly isRunning?: (call: CallId) => boolean
  },
): Promise<number> {
  const { at, deadBefore, leakedBefore, isRunning = () => false } = bounds
  const instances = await calls.readInstances()
  const isSilent = ({ gone, beatAt }: SeenInstance) => gone || beatAt < deadBefore
  let ended = await calls.takeOver(instances.filter(isSilent), at)
  for (const { id } of instances.filter((instance) => !isSilent(instance))) {
    const leaked = { instance: id, at, startedBefore: leakedBefore, isRunning }
    ended += (await calls.recoverLeaked(leaked)).length
  }
  return ended
}

/** The announcements of this store from now on. */
export function listen(storage: Storage): () => readonly Announcement[] {
  const heard: Announcement[] = []
  storage.subscribe((change) => heard.push(change))
  return () => heard
}
