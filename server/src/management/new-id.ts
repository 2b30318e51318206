import { randomBytes } from 'node:crypto'
import { type AccountId, type KeyId, accountId, keyId } from '../core/ids.ts'

/** Ids sort by the time they were made, so that rows made together lie together in an index. */
export function newAccountId(at: number): AccountId {
  return accountId(`acc_${timeOrderedId(at)}`)
}

export function newKeyId(at: number): KeyId {
  return keyId(`key_${timeOrderedId(at)}`)
}

/** A UUIDv7 (RFC 9562) of the given instant, epoch ms. */
export function timeOrderedId(at: number): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(at, 0, 6)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
