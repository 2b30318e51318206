import { hash } from 'node:crypto'

/**
 * SHA-256 of the whole key, lower-case hex: the only form in which a key is stored or looked up
 * (docs/reference/contract.md#5-12).
 */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex')
}
