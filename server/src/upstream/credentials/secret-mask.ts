/**
 * What an upstream echoes of the credential it was called with never goes further: wherever its bytes stand in an
 * answer, stars take their place, as many as there were bytes, so that lengths and frames stay true. Bytes that hold no
 * secret pass unchanged, the same object where nothing had to wait.
 */
import type { CredentialSecret } from '../../core/catalogue.ts'
import type { Secret } from '../../core/secret.ts'
import { parseServiceAccount } from './service-account.ts'
import type { UpstreamHead } from '../upstream.ts'
import type { HeaderList } from './header-list.ts'

/** Shorter ones are words that stand in any text; who chooses such a key has no secret to keep. */
const SECRET_BYTES_LEAST = 8
const STAR = 0x2a

/** Fields of a credential that hold something secret; the others are places and names (`Provider.publicFields`). */
const SECRET_FIELDS = ['api_key', 'access_key', 'secret_key', 'session_token'] as const

/** Headers of signing schemes that say when and what, and stand rightly in answers. */
const PLAIN_HEADERS: ReadonlySet<string> = new Set([
  'x-date',
  'x-content-sha256',
  'x-amz-date',
  'x-amz-content-sha256',
])

export interface SecretMask {
  head(head: UpstreamHead): UpstreamHead
  /** Complete bytes, or none while what came last may be the beginning of a secret. */
  push(chunk: Uint8Array): Uint8Array | undefined
  /** What was held back; undefined: nothing. */
  end(): Uint8Array | undefined
}

/** undefined: there is nothing to keep. `headers` are those the credential became. */
export function openSecretMask(credential: CredentialSecret, headers: HeaderList): SecretMask | undefined {
  const known = needlesOf(credential)
  const made = madeNeedles(headers, known)
  if (known.length + made.length === 0) return undefined
  return new Masking(made.length === 0 ? known : [...known, ...made])
}

/** The same for a text that is whole. */
export function maskText(text: string, credential: CredentialSecret): string {
  return maskWith(text, withBase64(needlesOf(credential)))
}

class Masking implements SecretMask {
  #needles: readonly Buffer[]
  #held: Buffer | undefined

  constructor(needles: readonly Buffer[]) {
    this.#needles = needles
  }

  head(head: UpstreamHead): UpstreamHead {
    // Errors are where credentials are echoed, and few: every form of them is looked for.
    if (head.status >= 400) this.#needles = withBase64(this.#needles)
    const headers: Record<string, string | string[]> = {}
    for (const [name, value] of Object.entries(head.headers)) {
      headers[name] =
        typeof value === 'string'
          ? maskWith(value, this.#needles)
          : value.map((one) => maskWith(one, this.#needles))
    }
    return { status: head.status, headers }
  }

  push(chunk: Uint8Array): Uint8Array | undefined {
    const bytes = this.#held === undefined ? bufferOf(chunk) : Buffer.concat([this.#held, chunk])
    const masked = maskBytes(bytes, this.#needles)
    const begun = beginningOfSecret(masked, this.#needles)
    if (begun < 0) {
      this.#held = undefined
      return masked
    }
    this.#held = masked.subarray(begun)
    return begun === 0 ? undefined : masked.subarray(0, begun)
  }

  end(): Uint8Array | undefined {
    const held = this.#held
    this.#held = undefined
    return held
  }
}

const needlesCache = new WeakMap<CredentialSecret, readonly Buffer[]>()

function needlesOf(credential: CredentialSecret): readonly Buffer[] {
  const cached = needlesCache.get(credential)
  if (cached !== undefined) return cached
  const secrets = [credential.secret, ...SECRET_FIELDS.map((name) => credential.fields[name])]
  const keyFile = [credential.secret, credential.fields['service_account']].map(privateKeyOf)
  const texts = [...secrets.map((secret) => secret?.unwrap()), ...keyFile]
  const needles = distinct(texts.flatMap((text) => (text === undefined ? [] : formsOf(text))))
  needlesCache.set(credential, needles)
  return needles
}

function privateKeyOf(secret: Secret | undefined): string | undefined {
  return secret === undefined ? undefined : parseServiceAccount(secret.unwrap())?.privateKey.trim()
}

/** Tokens and signatures made of the credential for this one call. */
function madeNeedles(headers: HeaderList, known: readonly Buffer[]): readonly Buffer[] {
  const made: Buffer[] = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (PLAIN_HEADERS.has(headers[at] ?? '')) continue
    const value = headers[at + 1] ?? ''
    const bytes = Buffer.from(value.startsWith('Bearer ') ? value.slice(7) : value)
    // A plain key is looked for already, with or without the scheme before it.
    if (bytes.byteLength < SECRET_BYTES_LEAST || known.some((needle) => bytes.includes(needle))) continue
    made.push(bytes)
  }
  return made
}

/** As it stands alone, inside JSON, and inside an address. */
function formsOf(text: string): readonly Buffer[] {
  const escaped = JSON.stringify(text).slice(1, -1)
  const forms = [text, escaped, escaped.replaceAll('/', '\\/'), encodeURIComponent(text)]
  return forms.map((form) => Buffer.from(form)).filter((form) => form.byteLength >= SECRET_BYTES_LEAST)
}

/** The same in base64, wherever in the encoded bytes it begins. */
function withBase64(needles: readonly Buffer[]): readonly Buffer[] {
  const encoded = needles.flatMap((needle) =>
    [0, 1, 2].flatMap((before) => {
      // Only characters that are made of the needle's own bytes.
      const from = Math.ceil((before * 8) / 6)
      const until = Math.floor(((before + needle.byteLength) * 8) / 6)
      const text = Buffer.concat([Buffer.alloc(before), needle])
        .toString('base64')
        .slice(from, until)
      return [text, text.replaceAll('+', '-').replaceAll('/', '_')].map((form) => Buffer.from(form))
    }),
  )
  return distinct([...needles, ...encoded.filter((form) => form.byteLength >= SECRET_BYTES_LEAST)])
}

function distinct(buffers: readonly Buffer[]): readonly Buffer[] {
  return [...new Map(buffers.map((buffer) => [buffer.toString('latin1'), buffer])).values()]
}

/** Header values are Latin-1, texts are UTF-8; a secret is ASCII in both. */
function maskWith(text: string, needles: readonly Buffer[]): string {
  return needles.reduce((masked, needle) => {
    const secret = needle.toString()
    return masked.includes(secret) ? masked.replaceAll(secret, '*'.repeat(secret.length)) : masked
  }, text)
}

/** The same bytes where there is nothing to mask. */
function maskBytes(bytes: Buffer, needles: readonly Buffer[]): Buffer {
  let masked = bytes
  for (const needle of needles) {
    let at = bytes.indexOf(needle)
    if (at >= 0 && masked === bytes) masked = Buffer.from(bytes)
    for (; at >= 0; at = bytes.indexOf(needle, at + 1)) masked.fill(STAR, at, at + needle.byteLength)
  }
  return masked
}

/** Where the last bytes may be the beginning of a secret that goes on in the next chunk; −1: nowhere. */
function beginningOfSecret(bytes: Buffer, needles: readonly Buffer[]): number {
  let earliest = -1
  for (const needle of needles) {
    const first = needle[0]
    if (first === undefined) continue
    const from = Math.max(0, bytes.byteLength - needle.byteLength + 1)
    for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
      if (bytes.compare(needle, 0, bytes.byteLength - at, at) !== 0) continue
      if (earliest < 0 || at < earliest) earliest = at
      break
    }
  }
  return earliest
}

function bufferOf(chunk: Uint8Array): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}
