import { createHash, createHmac } from 'node:crypto'
import { hashBody } from '../hash-body.ts'
import type { KeyPair } from './sign-jwt.ts'
import type { UpstreamCall } from '../upstream.ts'
import type { HeaderList } from './header-list.ts'

export interface AwsKey extends KeyPair {
  readonly region: string
  /** Of temporary credentials. */
  readonly sessionToken: string | undefined
}

/** AWS Signature Version 4 over method, path, query, host, date and body. */
export function signAws(
  call: UpstreamCall,
  service: string,
  key: AwsKey,
  epochMs: number,
): HeaderList | Promise<HeaderList> {
  const bodyHash = hashBody(call.body, call.bodyLength)
  if (typeof bodyHash === 'string') return sign({ call, service, key, epochMs, bodyHash })
  return bodyHash.then((hash) => sign({ call, service, key, epochMs, bodyHash: hash }))
}

interface Signing {
  readonly call: UpstreamCall
  readonly service: string
  readonly key: AwsKey
  readonly epochMs: number
  readonly bodyHash: string
}

function sign({ call, service, key, epochMs, bodyHash }: Signing): HeaderList {
  const url = new URL(call.request.url)
  const time = new Date(epochMs).toISOString().replace(/[-:]|\.\d{3}/g, '')
  const day = time.slice(0, 8)
  const headers: (readonly [name: string, value: string])[] = [
    ['host', url.host],
    ['x-amz-content-sha256', bodyHash],
    ['x-amz-date', time],
  ]
  if (key.sessionToken !== undefined) headers.push(['x-amz-security-token', key.sessionToken])
  const names = headers.map(([name]) => name).join(';')
  const canonical = [
    call.request.method,
    canonicalPath(url.pathname),
    canonicalQuery(url.searchParams),
    ...headers.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    bodyHash,
  ].join('\n')
  const scope = `${day}/${key.region}/${service}/aws4_request`
  const toSign = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${sha256(canonical)}`
  const signingKey = ['aws4_request', service, key.region, day].reduceRight<Buffer>(
    (derived, part) => hmac(derived, part),
    Buffer.from(`AWS4${key.secretKey}`),
  )
  const signature = hmac(signingKey, toSign).toString('hex')
  const credential = `Credential=${key.accessKey}/${scope}`
  return [
    // `host` is signed but sent by the connection itself.
    ...headers.slice(1).flat(),
    'authorization',
    `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names}, Signature=${signature}`,
  ]
}

/** Every service but S3 wants the segments of the sent path encoded once more. */
function canonicalPath(path: string): string {
  return path.split('/').map(encode).join('/')
}

function canonicalQuery(query: URLSearchParams): string {
  return [...query]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted()
    .join('&')
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
