import { createHash, createHmac } from 'node:crypto'
import type { Auth } from '../../core/http-request.ts'
import { hashBody } from '../hash-body.ts'
import type { KeyPair } from './sign-jwt.ts'
import type { UpstreamCall } from '../upstream.ts'
import type { HeaderList } from './header-list.ts'

type VolcAuth = Extract<Auth, { kind: 'volc-hmac' }>

const SIGNED_HEADERS = 'content-type;host;x-content-sha256;x-date'

/** Volcengine's signature for its OpenAPI: like AWS's fourth, without the prefix on the key and with other names. */
export function signVolc(
  call: UpstreamCall,
  auth: VolcAuth,
  key: KeyPair,
  epochMs: number,
): HeaderList | Promise<HeaderList> {
  const bodyHash = hashBody(call.body, call.bodyLength)
  if (typeof bodyHash === 'string') return sign({ call, auth, key, epochMs, bodyHash })
  return bodyHash.then((hash) => sign({ call, auth, key, epochMs, bodyHash: hash }))
}

interface Signing {
  readonly call: UpstreamCall
  readonly auth: VolcAuth
  readonly key: KeyPair
  readonly epochMs: number
  readonly bodyHash: string
}

function sign({ call, auth, key, epochMs, bodyHash }: Signing): HeaderList {
  const url = new URL(call.request.url)
  const time = new Date(epochMs).toISOString().replace(/[-:]|\.\d{3}/g, '')
  const day = time.slice(0, 8)
  const query = [...url.searchParams]
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .toSorted()
    .join('&')
  const canonical = [
    call.request.method,
    url.pathname,
    query,
    `content-type:${call.request.headers['content-type'] ?? 'application/json'}`,
    `host:${url.host}`,
    `x-content-sha256:${bodyHash}`,
    `x-date:${time}`,
    '',
    SIGNED_HEADERS,
    bodyHash,
  ].join('\n')
  const scope = `${day}/${auth.region}/${auth.service}/request`
  const toSign = `HMAC-SHA256\n${time}\n${scope}\n${createHash('sha256').update(canonical).digest('hex')}`
  const signingKey = ['request', auth.service, auth.region, day].reduceRight<Buffer>(
    (derived, part) => hmac(derived, part),
    Buffer.from(key.secretKey),
  )
  const signature = hmac(signingKey, toSign).toString('hex')
  return [
    'x-date',
    time,
    'x-content-sha256',
    bodyHash,
    'authorization',
    `HMAC-SHA256 Credential=${key.accessKey}/${scope}, SignedHeaders=${SIGNED_HEADERS}, Signature=${signature}`,
  ]
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
