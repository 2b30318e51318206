import { hash, verify } from '@node-rs/argon2'
import type { Secret } from '../../core/secret.ts'

/**
 * argon2id with 19 MiB, two passes, one lane: OWASP's minimum, about 30 ms on a small server. The hash contains its
 * parameters, so old hashes remain valid if they are raised later.
 */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const

export function hashPassword(password: Secret): Promise<string> {
  return hash(password.unwrap(), PARAMETERS)
}

export function verifyPassword(passwordHash: string, password: Secret): Promise<boolean> {
  return verify(passwordHash, password.unwrap())
}
