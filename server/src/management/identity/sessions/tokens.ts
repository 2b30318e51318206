import { createHash, randomBytes } from 'node:crypto'
import { Secret } from '../../../core/secret.ts'

/** Session tokens begin so, API keys never do: which of the two a bearer is shows at sight. */
export const SESSION_TOKEN_PREFIX = 'session-'
/** Of conversations that are no session yet. */
export const CHALLENGE_TOKEN_PREFIX = 'pending-'
/** Of a link that signs in once. */
export const LINK_TOKEN_PREFIX = 'link-'
const TOKEN_BYTES = 32

/** 32 random bytes as base64url after the prefix. */
export function makeToken(prefix: string): Secret {
  return new Secret(prefix + randomBytes(TOKEN_BYTES).toString('base64url'))
}

/** All that is stored of a token. A plain hash is enough: there is nothing to guess in 32 random bytes. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex')
}
