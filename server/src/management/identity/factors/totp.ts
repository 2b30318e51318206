/**
 * One-time passwords by time (RFC 6238 over RFC 4226): SHA-1, six digits, thirty seconds, as supported by every
 * authenticator app.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { Secret } from '../../../core/secret.ts'

const STEP_MS = 30_000
const DIGITS = 6
/** A phone's clock may be half a minute off, and people need time to type. */
const STEPS_AROUND = 1
/** RFC 4226 §4 asks for 16 and recommends 20. */
const SEED_BYTES = 20
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

export function makeSeed(): Secret {
  return new Secret(encodeBase32(randomBytes(SEED_BYTES)))
}

/** The time step near now whose code this is; undefined: none. */
export function findStep(seed: Secret, code: string, at: number): number | undefined {
  const key = decodeBase32(seed.unwrap())
  const now = Math.floor(at / STEP_MS)
  let found: number | undefined
  // All are compared, so that the time taken reveals nothing.
  for (let step = now - STEPS_AROUND; step <= now + STEPS_AROUND; step++) {
    if (sameText(codeOf(key, step, DIGITS), code)) found = step
  }
  return found
}

/** The address for an authenticator app's QR code (Key Uri Format). */
export function seedAddress(
  seed: Secret,
  names: { readonly issuer: string; readonly account: string },
): string {
  const label = `${encodeURIComponent(names.issuer)}:${encodeURIComponent(names.account)}`
  const query = new URLSearchParams({ secret: seed.unwrap(), issuer: names.issuer })
  return `otpauth://totp/${label}?${query.toString()}`
}

/** RFC 4226 §5.3. */
export function codeOf(key: Uint8Array, counter: number, digits: number): string {
  const message = Buffer.alloc(8)
  message.writeBigUInt64BE(BigInt(counter))
  const digest = createHmac('sha1', key).update(message).digest()
  const offset = digest.readUInt8(digest.length - 1) & 0x0f
  const number = digest.readUInt32BE(offset) & 0x7f_ff_ff_ff
  return String(number % 10 ** digits).padStart(digits, '0')
}

function sameText(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** RFC 4648 §6, without padding. */
export function encodeBase32(bytes: Uint8Array): string {
  let bits = ''
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0')
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => BASE32.charAt(Number.parseInt(five.padEnd(5, '0'), 2)))
    .join('')
}

export function decodeBase32(text: string): Uint8Array {
  const bits = Array.from(text, (letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (eight) => Number.parseInt(eight, 2))
}
