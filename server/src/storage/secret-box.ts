/**
 * Upstream credentials at rest: AES-256-GCM under the platform's secret key. The purpose (which row the secret belongs
 * to) is authenticated with it, so that a sealed text copied into another row does not open there.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

export interface SecretBox {
  seal(plaintext: string, purpose: string): string
  /** Throws when the key or the purpose is another than at sealing, or the text was changed. */
  open(sealed: string, purpose: string): string
  /** The same for the same text and purpose, and without the key not to be guessed, however short the text is. */
  fingerprint(text: string, purpose: string): string
}

const KEY_BYTES = 32
/** The size GCM is specified for. */
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Names cipher and layout, so that another one can be told apart later. */
const FORMAT = 'v1.'

export function createSecretBox(secretKey: Uint8Array): SecretBox {
  if (secretKey.byteLength !== KEY_BYTES) throw new Error(`the secret key must have ${KEY_BYTES} bytes`)
  const key = Uint8Array.from(secretKey)
  // A key of its own: one key serves one algorithm.
  const fingerprintKey = Buffer.from(hkdfSync('sha256', key, '', 'sluice fingerprint', KEY_BYTES))
  return {
    seal(plaintext, purpose) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      cipher.setAAD(Buffer.from(purpose))
      const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()])
      return FORMAT + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')
    },
    open(sealed, purpose) {
      if (!sealed.startsWith(FORMAT)) throw new Error('not a sealed secret of a known format')
      const bytes = Buffer.from(sealed.slice(FORMAT.length), 'base64url')
      if (bytes.byteLength < NONCE_BYTES + TAG_BYTES) throw new Error('a sealed secret is too short')
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
      decipher.setAAD(Buffer.from(purpose))
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      const body = bytes.subarray(NONCE_BYTES + TAG_BYTES)
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
    },
    fingerprint: (text, purpose) =>
      createHmac('sha256', fingerprintKey)
        .update(JSON.stringify([purpose, text]))
        .digest('hex'),
  }
}
