/** Ids of rows that the store itself makes. */
import { randomBytes } from 'node:crypto'
import { uuidV7 } from '../../core/ids.ts'

const COUNTER_BITS = 0xfff

export function newRowId(at: number): string {
  const random = randomBytes(10)
  return uuidV7({ at, counter: random.readUInt16BE(8) & COUNTER_BITS, random })
}
