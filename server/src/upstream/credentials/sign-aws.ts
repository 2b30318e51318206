import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import { hashBody } from '../hash-body.ts'
import type { KeyPair } from './sign-jwt.ts'
import type { UpstreamCall } from '../upstream.ts'
import type { HeaderList } from './header-list.ts'

export interface AwsKey extends KeyPair {
  readonly region: string
  /** Token of temporary credentials. */
  readonly sessionToken: string | undefined
}

/** AWS Signature Version 4 over method, path, query, host, date and body. */
export async function signAws(
  { request, body, bodyLength }: UpstreamCall,
  service: string,
  key: AwsKey,
  epochMs: number,
): Promise<HeaderList> {
  // Loaded by the first call that is signed: most platforms have none.
  const { SignatureV4 } = await import('@smithy/signature-v4')
  const { hostname, host, pathname, protocol, searchParams } = new URL(request.url)
  const signer = new SignatureV4({
    service,
    region: key.region,
    sha256: Sha256,
    credentials: {
      accessKeyId: key.accessKey,
      secretAccessKey: key.secretKey,
      ...(key.sessionToken !== undefined && { sessionToken: key.sessionToken }),
    },
  })
  const { headers } = await signer.sign(
    {
      method: request.method,
      protocol,
      hostname,
      path: pathname,
      query: queryOf(searchParams),
      headers: { host, 'x-amz-content-sha256': await hashBody(body, bodyLength) },
    },
    { signingDate: new Date(epochMs) },
  )
  // `host` is signed but sent by the connection itself.
  return Object.entries(headers)
    .filter(([name]) => name !== 'host')
    .flat()
}

function queryOf(query: URLSearchParams): Record<string, string[]> {
  return Object.fromEntries([...new Set(query.keys())].map((name) => [name, query.getAll(name)]))
}

/** Node's hash with the library's interface: with a secret it is an HMAC. */
class Sha256 {
  readonly #hash: Hash | Hmac

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash =
      secret === undefined
        ? createHash('sha256')
        : createHmac('sha256', typeof secret === 'string' ? secret : bytesOf(secret))
  }

  update(chunk: Uint8Array): void {
    this.#hash.update(chunk)
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }
}

function bytesOf(secret: ArrayBuffer | ArrayBufferView): Buffer {
  return ArrayBuffer.isView(secret)
    ? Buffer.from(secret.buffer, secret.byteOffset, secret.byteLength)
    : Buffer.from(secret)
}
