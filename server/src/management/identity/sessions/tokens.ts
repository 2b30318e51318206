import { createHash, randomBytes } from 'node:crypto'
import { Secret } from '../../../core/secret.ts'

/** Prefix of session tokens, which API keys never have, so that bearer tokens can be distinguished. */
export const SESSION_TOKEN_PREFIX = 'session-'
/** Prefix of tokens for challenges before a session. */
export const CHALLENGE_TOKEN_PREFIX = 'pending-'
/** Prefix of tokens for sign-in links. */
export const LINK_TOKEN_PREFIX = 'link-'
const TOKEN_BYTES = 32

/** 32 random bytes as base64url after the prefix. */
export function makeToken(prefix: string): Secret {
  return new Secret(prefix + randomBytes(TOKEN_BYTES).toString('base64url'))
}

/** All that is stored of a token. A plain hash is enough: 32 random bytes cannot be guessed. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex')
}
