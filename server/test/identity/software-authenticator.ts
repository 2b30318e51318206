/** A passkey in software: what a telephone or a security key does, written from the WebAuthn specification. */
import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'

export interface AuthenticatorOptions {
  readonly origin: string
  readonly hostName: string
  /** The device asked for a finger or a PIN. */
  readonly userVerified?: boolean
  /** Counts its uses, as security keys do. */
  readonly counts?: boolean
}

interface CreationOptions {
  readonly challenge: string
}

export class SoftwareAuthenticator {
  readonly #options: AuthenticatorOptions
  readonly #id = randomBytes(32)
  readonly #privateKey: KeyObject
  readonly #coseKey: Buffer
  counter = 0

  constructor(options: AuthenticatorOptions) {
    this.#options = options
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
    this.#privateKey = privateKey
    // COSE: {1: EC2, 3: ES256, -1: P-256, -2: x, -3: y}
    this.#coseKey = cborMap([
      [cborInteger(1), cborInteger(2)],
      [cborInteger(3), cborInteger(-7)],
      [cborInteger(-1), cborInteger(1)],
      [cborInteger(-2), cborBytes(Buffer.from(x, 'base64url'))],
      [cborInteger(-3), cborBytes(Buffer.from(y, 'base64url'))],
    ])
  }

  get id(): string {
    return this.#id.toString('base64url')
  }

  /** `navigator.credentials.create`. */
  create({ challenge }: CreationOptions) {
    const length = Buffer.alloc(2)
    length.writeUInt16BE(this.#id.length)
    const credential = Buffer.concat([Buffer.alloc(16), length, this.#id, this.#coseKey])
    const attestationObject = cborMap([
      [cborText('fmt'), cborText('none')],
      [cborText('attStmt'), cborMap([])],
      [cborText('authData'), cborBytes(this.#authenticatorData(credential))],
    ])
    return {
      ...this.#envelope(),
      response: {
        clientDataJSON: this.#clientData('webauthn.create', challenge).toString('base64url'),
        attestationObject: attestationObject.toString('base64url'),
      },
    }
  }

  /** `navigator.credentials.get`. */
  get({ challenge }: CreationOptions) {
    if (this.#options.counts === true) this.counter += 1
    const clientData = this.#clientData('webauthn.get', challenge)
    const authenticatorData = this.#authenticatorData()
    const signed = Buffer.concat([authenticatorData, sha256(clientData)])
    return {
      ...this.#envelope(),
      response: {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: authenticatorData.toString('base64url'),
        signature: createSign('sha256').update(signed).sign(this.#privateKey).toString('base64url'),
      },
    }
  }

  #envelope() {
    return { id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {} }
  }

  #clientData(type: string, challenge: string): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.#options.origin, crossOrigin: false }))
  }

  #authenticatorData(credential = Buffer.alloc(0)): Buffer {
    const present = 0x01
    const verified = this.#options.userVerified === false ? 0 : 0x04
    const attested = credential.length > 0 ? 0x40 : 0
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(this.counter)
    const flags = Buffer.from([present | verified | attested])
    return Buffer.concat([sha256(this.#options.hostName), flags, counter, credential])
  }
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest()
}

/** RFC 8949 §3: major type and length. */
function cborHead(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length])
  if (length < 256) return Buffer.from([(major << 5) | 24, length])
  return Buffer.from([(major << 5) | 25, length >> 8, length & 0xff])
}

function cborInteger(value: number): Buffer {
  return value < 0 ? cborHead(1, -1 - value) : cborHead(0, value)
}

function cborBytes(bytes: Buffer): Buffer {
  return Buffer.concat([cborHead(2, bytes.length), bytes])
}

function cborText(text: string): Buffer {
  return Buffer.concat([cborHead(3, Buffer.byteLength(text)), Buffer.from(text)])
}

function cborMap(entries: readonly (readonly [Buffer, Buffer])[]): Buffer {
  return Buffer.concat([cborHead(5, entries.length), ...entries.flat()])
}
