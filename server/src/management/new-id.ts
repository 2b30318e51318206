import { createHash, randomFillSync } from 'node:crypto'
import { type AccountId, type KeyId, type MemberId, accountId, keyId, memberId, uuidV7 } from '../core/ids.ts'

/** Ids sort by the time they were made, so that rows made together lie together in an index. */
export function newAccountId(at: number): AccountId {
  return accountId(`acc_${timeOrderedId(at)}`)
}

export function newKeyId(at: number): KeyId {
  return keyId(`key_${timeOrderedId(at)}`)
}

export function newMemberId(at: number): MemberId {
  return memberId(`mem_${timeOrderedId(at)}`)
}

/**
 * The same for the same account and name: two processes that create the same key at once collide instead of creating
 * two.
 */
export function namedKeyId(account: AccountId, name: string): KeyId {
  const digest = createHash('sha256').update(`${account}/${name}`, 'utf8').digest('hex')
  return keyId(`key_${digest.slice(0, 32)}`)
}

/** Twelve bits of every id count the ids of one millisecond, starting low enough to allow thousands. */
const COUNTER_MAX = 0xfff
const COUNTER_START_MAX = 0x7ff
let last = { at: -1, counter: 0 }

/**
 * A UUIDv7 of the given instant, epoch ms. Ids of one millisecond sort in the order they were made, so that
 * rows made together keep their order.
 */
export function timeOrderedId(at: number): string {
  const random = takeRandom()
  return uuidV7({ at, counter: nextCounter(at, random.readUInt16BE(8)), random })
}

/** Random bytes are generated for many ids at once: one system call costs more than everything else about an id. */
const POOL_BYTES = 4_096
const ID_BYTES = 16
const pool = Buffer.allocUnsafeSlow(POOL_BYTES)
let taken = POOL_BYTES

function takeRandom(): Buffer {
  if (taken >= POOL_BYTES) {
    randomFillSync(pool)
    taken = 0
  }
  const bytes = pool.subarray(taken, taken + ID_BYTES)
  taken += ID_BYTES
  return bytes
}

function nextCounter(at: number, random: number): number {
  const counter = last.at === at && last.counter < COUNTER_MAX ? last.counter + 1 : random & COUNTER_START_MAX
  last = { at, counter }
  return counter
}
