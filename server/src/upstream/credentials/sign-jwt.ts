import { createHmac } from 'node:crypto'

export interface KeyPair {
  readonly accessKey: string
  readonly secretKey: string
}

const LIFE_SECONDS = 1800
/** Clocks differ: valid a little before it was made. */
const LEEWAY_SECONDS = 5

/** Kling's token: HS256 over the access key's name and its times. */
export function signJwt(key: KeyPair, epochMs: number): string {
  const now = Math.floor(epochMs / 1000)
  const claims = { iss: key.accessKey, exp: now + LIFE_SECONDS, nbf: now - LEEWAY_SECONDS }
  const unsigned = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`
  return `${unsigned}.${createHmac('sha256', key.secretKey).update(unsigned).digest('base64url')}`
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
