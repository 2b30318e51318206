import { createHash } from 'node:crypto'

/** SHA-256 of the whole key, lower-case hex: the only form in which a key is stored or looked up (contract §2.6). */
export function hashKey(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex')
}
