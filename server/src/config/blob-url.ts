import { Secret } from '../core/secret.ts'
import { nearestName } from '../core/nearest-name.ts'

/** The location and access of an S3-compatible store: `SLUICE_BLOB_URL` in parts. */
export interface S3Address {
  readonly bucket: string
  /** Prefix of every key, without leading or trailing slashes; empty: none. */
  readonly prefix: string
  /** undefined: Amazon's own endpoint. */
  readonly endpoint: string | undefined
  /** undefined: from the usual AWS variables and files. */
  readonly region: string | undefined
  /** True: the bucket is in the path, not in the host name. */
  readonly pathStyle: boolean
  /** undefined: from the usual AWS variables, files and instance roles. */
  readonly credentials:
    | {
        readonly accessKeyId: string
        readonly secretAccessKey: Secret
        readonly sessionToken: Secret | undefined
      }
    | undefined
}

const NAMES = [
  'endpoint',
  'region',
  'path_style',
  'access_key_id',
  'secret_access_key',
  'session_token',
] as const
type Name = (typeof NAMES)[number]

const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$/
const PREFIX = /^(?:[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*)?$/
const REGION = /^[A-Za-z0-9-]{1,64}$/

/** The address, or everything that is wrong with it; no message shows the address, which may contain a secret. */
export function readBlobUrl(url: URL): S3Address | readonly string[] {
  const mistakes: string[] = []
  const query = queryOf(url, mistakes)
  const prefix = url.pathname.replace(/^\/+|\/+$/g, '')
  const address: S3Address = {
    bucket: url.hostname,
    prefix,
    endpoint: query.endpoint,
    region: query.region,
    pathStyle: query.path_style === 'true',
    credentials: credentialsOf(query, mistakes),
  }
  if (!BUCKET.test(url.hostname)) mistakes.push('the bucket after s3:// is missing or not a bucket name')
  if (!PREFIX.test(prefix)) mistakes.push('the path may hold letters, digits, ".", "_" and "-" only')
  if (url.port !== '') mistakes.push('a port belongs to the endpoint')
  if (url.username !== '' || url.password !== '') {
    mistakes.push('credentials are given as access_key_id and secret_access_key, not before the bucket')
  }
  if (query.endpoint !== undefined && !isHttpAddress(query.endpoint)) {
    mistakes.push('endpoint is not an http or https address')
  }
  if (query.region !== undefined && !REGION.test(query.region)) mistakes.push('region is not a region name')
  if (query.path_style !== undefined && !['true', 'false'].includes(query.path_style)) {
    mistakes.push('path_style is neither true nor false')
  }
  return mistakes.length > 0 ? mistakes : address
}

function queryOf(url: URL, mistakes: string[]): Partial<Record<Name, string>> {
  const query: Partial<Record<Name, string>> = {}
  // Secret keys may contain `+`, which a query would read as a blank.
  for (const [given, value] of new URLSearchParams(url.search.replaceAll('+', '%2B'))) {
    const name = NAMES.find((known) => known === given)
    if (name === undefined) mistakes.push(unknown(given))
    else if (value !== '') query[name] = value
  }
  return query
}

function unknown(given: string): string {
  const nearest = nearestName(given, NAMES)
  return nearest === undefined
    ? `its query may hold ${NAMES.join(', ')} only`
    : `its query holds an unknown name; did you mean ${nearest}?`
}

function credentialsOf(query: Partial<Record<Name, string>>, mistakes: string[]): S3Address['credentials'] {
  const {
    access_key_id: accessKeyId,
    secret_access_key: secretAccessKey,
    session_token: sessionToken,
  } = query
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    return {
      accessKeyId,
      secretAccessKey: new Secret(secretAccessKey),
      sessionToken: sessionToken === undefined ? undefined : new Secret(sessionToken),
    }
  }
  if (accessKeyId !== undefined || secretAccessKey !== undefined || sessionToken !== undefined) {
    mistakes.push('access_key_id and secret_access_key are given together or not at all')
  }
  return undefined
}

function isHttpAddress(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:') && url.search === ''
}
