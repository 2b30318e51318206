/** Credentials become headers here and nowhere else: the only code that unwraps a vendor's secret. */
import type { CredentialSecret } from '../../core/catalogue.ts'
import { type ServiceAccount, parseServiceAccount } from './service-account.ts'
import { type AwsKey, signAws } from './sign-aws.ts'
import { type KeyPair, signJwt } from './sign-jwt.ts'
import { signVolc } from './sign-volc.ts'
import type { TokenCache } from './token-cache.ts'
import type { UpstreamCall, UpstreamHead } from '../upstream.ts'
import type { HeaderList } from './header-list.ts'
import type { Secret } from '../../core/secret.ts'

/** A credential without a field that its scheme needs; the text names the field, never a value. */
export class CredentialError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CredentialError'
  }
}

/** Synchronous if the scheme allows it; a promise if a token has to be fetched or a large body hashed. */
export function applyAuth(
  call: UpstreamCall,
  tokens: TokenCache,
  epochMs: number,
): HeaderList | Promise<HeaderList> {
  const { auth, credential } = call
  // A credential is one secret or named fields; if an address needs fields, the key is one of them.
  const key = credential.secret ?? credential.fields['api_key']
  switch (auth.kind) {
    case 'none':
      return []
    case 'bearer':
      // A server on the operator's own machine may have no key at all.
      return key === undefined ? [] : bearer(key.unwrap())
    case 'header':
      return key === undefined ? [] : [auth.name, `${auth.prefix ?? ''}${key.unwrap()}`]
    case 'jwt-hs256':
      if (key !== undefined && credential.fields['access_key'] === undefined) return bearer(key.unwrap())
      return signJwt(keyPairOf(credential), epochMs).then(bearer)
    case 'volc-hmac':
      return signVolc(call, auth, keyPairOf(credential), epochMs)
    case 'google-oauth':
      return bearerOf(tokens.read(serviceAccountOf(credential), epochMs))
    case 'aws-sigv4':
      // Bedrock also has plain keys; with one, nothing has to be signed.
      if (key !== undefined) return bearer(key.unwrap())
      return signAws(call, auth.service, awsKeyOf(credential), epochMs)
  }
}

/**
 * Values of fields that are not secret (`Provider.publicFields`), for building addresses. One that could change an
 * address's host counts as absent: customers set such fields in their own credentials.
 */
export function readPublicFields(
  credential: CredentialSecret,
  names: readonly string[],
): Readonly<Record<string, string>> {
  const values: Record<string, string> = {}
  for (const name of names) {
    const field = credential.fields[name]
    if (field !== undefined && fitsAddress(name, field.unwrap())) values[name] = field.unwrap()
  }
  if (names.includes('project') && values['project'] === undefined) {
    const text = (credential.fields['service_account'] ?? credential.secret)?.unwrap()
    const project = text === undefined ? undefined : parseServiceAccount(text)?.projectId
    if (project !== undefined && fitsAddress('project', project)) values['project'] = project
  }
  return values
}

/** Whether it contains a secret, valid or not. */
export function holdsKey({ secret, fields }: CredentialSecret, publicNames: readonly string[]): boolean {
  const named = Object.entries(fields).filter(([name]) => !publicNames.includes(name))
  return [secret, ...named.map(([, field]) => field)].some(
    (one) => one !== undefined && one.unwrap().trim() !== '',
  )
}

/** Regions and resources become parts of a host name: no dot, no slash, no port. */
const PLACE = /^[\w-]{1,100}$/
const OTHER_PLACES: Readonly<Record<string, RegExp>> = {
  api_version: /^\w[\w.-]{0,99}$/,
  project: /^\w[\w.:-]{0,99}$/,
  storage_uri: /^gs:\/\/\w[\w./-]{0,999}$/,
}

function fitsAddress(name: string, value: string): boolean {
  return (OTHER_PLACES[name] ?? PLACE).test(value)
}

/** A public field of a credential that could change an address's host; undefined: there is none. */
export function findMisplacedField(
  { fields }: CredentialSecret,
  names: readonly string[],
): string | undefined {
  return names.find((name) => {
    const field = fields[name]
    return field !== undefined && !fitsAddress(name, field.unwrap())
  })
}

function bearerOf(token: string | Promise<string>): HeaderList | Promise<HeaderList> {
  return typeof token === 'string' ? bearer(token) : token.then(bearer)
}

function bearer(token: string): HeaderList {
  return ['authorization', `Bearer ${token}`]
}

function keyPairOf(credential: CredentialSecret): KeyPair {
  return {
    accessKey: requiredField(credential, 'access_key'),
    secretKey: requiredField(credential, 'secret_key'),
  }
}

function awsKeyOf(credential: CredentialSecret): AwsKey {
  return {
    ...keyPairOf(credential),
    region: requiredField(credential, 'region'),
    sessionToken: credential.fields['session_token']?.unwrap(),
  }
}

function requiredField(credential: CredentialSecret, name: string): string {
  const field = credential.fields[name]
  if (field === undefined) throw new CredentialError(`the credential has no field ${name}`)
  return field.unwrap()
}

/** Google's key file, as JSON text: in the field `service_account`, or as the secret itself. */
function serviceAccountOf(credential: CredentialSecret): ServiceAccount {
  const text = (credential.fields['service_account'] ?? credential.secret)?.unwrap()
  const account = text === undefined ? undefined : parseServiceAccount(text)
  if (account === undefined) throw new CredentialError('the credential holds no service account key file')
  return account
}

/** Shorter ones may occur in any text; such a key is not a secret. */
const SECRET_BYTES_LEAST = 8
const STAR = 0x2a

/** Fields of a credential that are secret; the others are places and names (`Provider.publicFields`). */
const SECRET_FIELDS = ['api_key', 'access_key', 'secret_key', 'session_token'] as const

/** Headers of signing schemes that are not secret and may occur in answers. */
const PLAIN_HEADERS: ReadonlySet<string> = new Set([
  'x-date',
  'x-content-sha256',
  'x-amz-date',
  'x-amz-content-sha256',
])

export interface SecretMask {
  head(head: UpstreamHead): UpstreamHead
  /** Returns bytes that are safe to pass on; none while the last ones may be the beginning of a secret. */
  push(chunk: Uint8Array): Uint8Array | undefined
  /** What was held back; undefined: nothing. */
  end(): Uint8Array | undefined
}

/**
 * Masks the credential wherever an upstream echoes it in an answer: its bytes are replaced by as many asterisks, so
 * that lengths and frames stay correct. Bytes without a secret are passed on unchanged, as the same object if nothing
 * had to be held back. undefined: there is nothing to mask. `headers` are those made from the credential.
 */
export function openSecretMask(credential: CredentialSecret, headers: HeaderList): SecretMask | undefined {
  const known = needlesOf(credential)
  const made = madeNeedles(headers, known)
  if (known.length + made.length === 0) return undefined
  return new Masking(made.length === 0 ? known : [...known, ...made])
}

/** The same for a complete text. */
export function maskText(text: string, credential: CredentialSecret): string {
  return maskWith(text, withBase64(needlesOf(credential)).map(textOf))
}

class Masking implements SecretMask {
  #needles: readonly Buffer[]
  #held: Buffer | undefined

  constructor(needles: readonly Buffer[]) {
    this.#needles = needles
  }

  head(head: UpstreamHead): UpstreamHead {
    // Credentials are echoed mostly in errors, which are few, so every encoding of them is searched for.
    if (head.status >= 400) this.#needles = withBase64(this.#needles)
    const secrets = this.#needles.map(textOf)
    let masked: Record<string, string | string[]> | undefined
    for (const name in head.headers) {
      const value = head.headers[name] ?? ''
      const safe =
        typeof value === 'string' ? maskWith(value, secrets) : value.map((one) => maskWith(one, secrets))
      if (safe === value) continue
      masked ??= { ...head.headers }
      masked[name] = safe
    }
    return masked === undefined ? head : { status: head.status, headers: masked }
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

/** Tokens and signatures made from the credential for this call. */
function madeNeedles(headers: HeaderList, known: readonly Buffer[]): readonly Buffer[] {
  const made: Buffer[] = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (PLAIN_HEADERS.has(headers[at] ?? '')) continue
    const value = headers[at + 1] ?? ''
    const bytes = Buffer.from(value.startsWith('Bearer ') ? value.slice(7) : value)
    // A plain key is searched for already, with or without a scheme before it.
    if (bytes.byteLength < SECRET_BYTES_LEAST || known.some((needle) => bytes.includes(needle))) continue
    made.push(bytes)
  }
  return made
}

/** The text itself, as escaped in JSON, and as encoded in an address. */
function formsOf(text: string): readonly Buffer[] {
  const escaped = JSON.stringify(text).slice(1, -1)
  const forms = [text, escaped, escaped.replaceAll('/', '\\/'), encodeURIComponent(text)]
  return forms.map((form) => Buffer.from(form)).filter((form) => form.byteLength >= SECRET_BYTES_LEAST)
}

/** The same in base64, at any alignment. */
function withBase64(needles: readonly Buffer[]): readonly Buffer[] {
  const encoded = needles.flatMap((needle) =>
    [0, 1, 2].flatMap((before) => {
      // Only characters that depend on the needle's own bytes.
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

/** Header values are Latin-1, texts are UTF-8; a secret is ASCII in both. Returns the same text if there is nothing to mask. */
function maskWith(text: string, secrets: readonly string[]): string {
  let masked = text
  for (const secret of secrets) {
    if (masked.includes(secret)) masked = masked.replaceAll(secret, '*'.repeat(secret.length))
  }
  return masked
}

function textOf(needle: Buffer): string {
  return needle.toString()
}

/** Returns the same bytes if there is nothing to mask. */
function maskBytes(bytes: Buffer, needles: readonly Buffer[]): Buffer {
  let masked = bytes
  for (const needle of needles) {
    let at = bytes.indexOf(needle)
    if (at >= 0 && masked === bytes) masked = Buffer.from(bytes)
    for (; at >= 0; at = bytes.indexOf(needle, at + 1)) masked.fill(STAR, at, at + needle.byteLength)
  }
  return masked
}

/** Start of the last bytes that may be the beginning of a secret continued in the next chunk; −1: there is none. */
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
