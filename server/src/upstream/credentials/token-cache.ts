import { createHash } from 'node:crypto'
import { isJsonObject } from '../../core/json.ts'
import { readWhole } from '../remote/read-answer.ts'
import type { ServiceAccount } from './service-account.ts'
import { ASSERTION_LIFE_SECONDS, signAssertion } from './sign-jwt.ts'
import type { Upstream } from '../upstream.ts'

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
/** A token is renewed this long before it expires, so that none expires during a call. */
const RENEW_BEFORE_MS = 300_000
/** Accounts cached: one per credential, BYOK ones included. */
const ACCOUNTS_MAX = 1_000
const TIMEOUTS = { connectMs: 10_000, firstByteMs: 20_000, idleMs: 20_000 }
const ANSWER_BYTES_MAX = 65_536

interface Token {
  readonly value: string
  readonly expiresAt: number
}

/** Access tokens of Google service accounts: fetched once, shared by concurrent calls, renewed before they expire. */
export class TokenCache {
  readonly #open: Upstream['open']
  readonly #tokens = new Map<string, Token>()
  readonly #fetching = new Map<string, Promise<string>>()

  constructor(open: Upstream['open']) {
    this.#open = open
  }

  /** Synchronous if the token is cached. */
  read(account: ServiceAccount, epochMs: number): string | Promise<string> {
    const name = nameOf(account)
    const token = this.#tokens.get(name)
    if (token !== undefined && token.expiresAt - RENEW_BEFORE_MS > epochMs) return token.value
    const fetching = this.#fetching.get(name)
    if (fetching !== undefined) return fetching
    const started = this.#fetch(name, account, epochMs).finally(() => this.#fetching.delete(name))
    this.#fetching.set(name, started)
    return started
  }

  async #fetch(name: string, account: ServiceAccount, epochMs: number): Promise<string> {
    const form = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: await signAssertion(account, SCOPE, epochMs),
    })
    const body = Buffer.from(form.toString())
    const answer = await readWhole(
      this.#open,
      {
        request: {
          method: 'POST',
          url: account.tokenUri,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        },
        auth: { kind: 'none' },
        credential: { secret: undefined, fields: {} },
        body: [body],
        bodyLength: body.byteLength,
        timeouts: TIMEOUTS,
      },
      ANSWER_BYTES_MAX,
    )
    const granted: unknown = answer.status === 200 ? JSON.parse(answer.body.toString()) : undefined
    if (!isJsonObject(granted) || typeof granted['access_token'] !== 'string') {
      throw new Error(`Google granted no access token: status ${answer.status}`)
    }
    const lifeSeconds =
      typeof granted['expires_in'] === 'number' ? granted['expires_in'] : ASSERTION_LIFE_SECONDS
    if (this.#tokens.size >= ACCOUNTS_MAX) this.#tokens.clear()
    this.#tokens.set(name, { value: granted['access_token'], expiresAt: epochMs + lifeSeconds * 1000 })
    return granted['access_token']
  }
}

/**
 * The private key is part of the cache key: without it, a key file with the same other fields must not get the cached
 * token.
 */
function nameOf({ clientEmail, keyId, tokenUri, privateKey }: ServiceAccount): string {
  return createHash('sha256')
    .update(JSON.stringify([clientEmail, keyId ?? null, tokenUri, privateKey]))
    .digest('base64')
}
