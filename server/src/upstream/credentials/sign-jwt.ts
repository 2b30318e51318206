import { createPrivateKey, createSecretKey } from 'node:crypto'
import type { ServiceAccount } from './service-account.ts'

export interface KeyPair {
  readonly accessKey: string
  readonly secretKey: string
}

const LIFE_SECONDS = 1800
/** Clocks differ: valid a little before it was made. */
const LEEWAY_SECONDS = 5

/** Kling's token: HS256 over the access key's name and validity times. */
export async function signJwt(key: KeyPair, epochMs: number): Promise<string> {
  const now = Math.floor(epochMs / 1000)
  // Loaded by the first credential that needs it.
  const { SignJWT } = await import('jose')
  return new SignJWT({ iss: key.accessKey, exp: now + LIFE_SECONDS, nbf: now - LEEWAY_SECONDS })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(createSecretKey(key.secretKey, 'utf8'))
}

export const ASSERTION_LIFE_SECONDS = 3600

/** The assertion with which a Google service account requests an access token: RS256 with its own key. */
export async function signAssertion(
  account: ServiceAccount,
  scope: string,
  epochMs: number,
): Promise<string> {
  const now = Math.floor(epochMs / 1000)
  const { SignJWT } = await import('jose')
  return new SignJWT({
    iss: account.clientEmail,
    scope,
    aud: account.tokenUri,
    iat: now,
    exp: now + ASSERTION_LIFE_SECONDS,
  })
    .setProtectedHeader({
      alg: 'RS256',
      typ: 'JWT',
      ...(account.keyId !== undefined && { kid: account.keyId }),
    })
    .sign(createPrivateKey(account.privateKey))
}
