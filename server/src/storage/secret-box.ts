/**
 * Upstream credentials at rest: AES-256-GCM under the platform's secret key. The purpose (which row the secret belongs
 * to) is authenticated with it, so that a sealed text copied to another row cannot be opened there.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { wholeCharacters } from '../core/whole-characters.ts'

/** Text, or its UTF-8 in pieces. */
export type LongText = string | readonly Uint8Array[]

export interface SecretBox {
  seal(plaintext: string, purpose: string): string
  /** Throws if key or purpose differ from those at sealing, or the text was changed. */
  open(sealed: string, purpose: string): string
  /** As `seal`, the sealed text as shared bytes; a long text is processed in pieces with other work in between. */
  sealInTurns(plaintext: LongText, purpose: string): Promise<Uint8Array>
  /** As `open`, for text sealed in either way. Rejects where `open` throws. */
  openInTurns(sealed: string, purpose: string): Promise<string>
  /** The same for the same text and purpose; without the key it cannot be guessed, however short the text. */
  fingerprint(text: string, purpose: string): string
}

const KEY_BYTES = 32
/** The size GCM is specified for. */
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Names cipher and layout, so that a later format can be recognised. */
const FORMAT = 'v1.'
/** Bytes, and characters of base64, processed at once: a few milliseconds. Whole groups of both. */
const PIECE = 3 * 262_144

export function createSecretBox(secretKey: Uint8Array): SecretBox {
  if (secretKey.byteLength !== KEY_BYTES) throw new Error(`the secret key must have ${KEY_BYTES} bytes`)
  const key = Uint8Array.from(secretKey)
  // A key of its own: one key serves one algorithm.
  const fingerprintKey = Buffer.from(hkdfSync('sha256', key, '', 'sluice fingerprint', KEY_BYTES))
  return {
    seal(plaintext, purpose) {
      const { nonce, cipher } = sealing(key, purpose)
      const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()])
      return FORMAT + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')
    },
    open(sealed, purpose) {
      const bytes = Buffer.from(sealedPart(sealed), 'base64url')
      const decipher = opening(key, bytes, purpose)
      const body = bytes.subarray(NONCE_BYTES + TAG_BYTES)
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
    },
    sealInTurns: (plaintext, purpose) => sealInTurns(key, plaintext, purpose),
    openInTurns: (sealed, purpose) => openInTurns(key, sealed, purpose),
    fingerprint: (text, purpose) =>
      createHmac('sha256', fingerprintKey)
        .update(JSON.stringify([purpose, text]))
        .digest('hex'),
  }
}

const STREAM = { stream: true }

function sealing(key: Uint8Array, purpose: string) {
  const nonce = randomBytes(NONCE_BYTES)
  return { nonce, cipher: createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(purpose)) }
}

/** `head` begins with nonce and tag. */
function opening(key: Uint8Array, head: Uint8Array, purpose: string) {
  if (head.byteLength < NONCE_BYTES + TAG_BYTES) throw new Error('a sealed secret is too short')
  return createDecipheriv('aes-256-gcm', key, head.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(purpose))
    .setAuthTag(head.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
}

async function sealInTurns(key: Uint8Array, plaintext: LongText, purpose: string): Promise<Uint8Array> {
  const { nonce, cipher } = sealing(key, purpose)
  const body: Buffer[] = []
  for (const piece of piecesOf(plaintext)) {
    body.push(cipher.update(piece))
    await nextTurn()
  }
  body.push(cipher.final())
  return inBase64([nonce, cipher.getAuthTag(), ...body])
}

function* piecesOf(text: LongText): Generator<Uint8Array> {
  if (typeof text === 'string') {
    for (let at = 0, end = 0; at < text.length; at = end) {
      end = wholeCharacters(text, at + PIECE)
      yield Buffer.from(text.slice(at, end))
    }
    return
  }
  for (const bytes of text) {
    for (let at = 0; at < bytes.byteLength; at += PIECE) yield bytes.subarray(at, at + PIECE)
  }
}

async function openInTurns(key: Uint8Array, sealed: string, purpose: string): Promise<string> {
  const text = sealedPart(sealed)
  const first = Buffer.from(text.slice(0, PIECE), 'base64url')
  const decipher = opening(key, first, purpose)
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let opened = decoder.decode(decipher.update(first.subarray(NONCE_BYTES + TAG_BYTES)), STREAM)
  for (let at = PIECE; at < text.length; at += PIECE) {
    await nextTurn()
    const piece = Buffer.from(text.slice(at, at + PIECE), 'base64url')
    opened += decoder.decode(decipher.update(piece), STREAM)
  }
  // Nothing is returned before the whole text is authenticated.
  return opened + decoder.decode(decipher.final())
}

function sealedPart(sealed: string): string {
  if (!sealed.startsWith(FORMAT)) throw new Error('not a sealed secret of a known format')
  return sealed.slice(FORMAT.length)
}

/** The format's name and all the bytes in base64, without padding: as many bytes as it has characters. */
async function inBase64(parts: readonly Buffer[]): Promise<Uint8Array> {
  const length = parts.reduce((sum, { byteLength }) => sum + byteLength, 0)
  const text = Buffer.from(new SharedArrayBuffer(FORMAT.length + Math.ceil((length * 4) / 3)))
  let at = text.write(FORMAT, 'latin1')
  let rest: Buffer = Buffer.alloc(0)
  for (const part of parts) {
    const bytes = Buffer.concat([rest, part])
    const whole = bytes.byteLength - (bytes.byteLength % 3)
    at += text.write(bytes.toString('base64url', 0, whole), at, 'latin1')
    rest = bytes.subarray(whole)
    await nextTurn()
  }
  text.write(rest.toString('base64url'), at, 'latin1')
  return text
}
