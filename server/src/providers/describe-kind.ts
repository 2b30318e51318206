/** What an operator needs to add a vendor of a kind: its address, and the contents of its credentials. */
import type { Auth } from '../core/http-request.ts'
import type { Provider } from './provider.ts'

export interface VendorKind {
  readonly kind: string
  readonly name: string
  readonly protocols: readonly string[]
  /** `{name}` in it is a field of the credential. undefined: the operator must configure it. */
  readonly baseUrl: string | undefined
  readonly secret: {
    readonly need: 'needed' | 'optional' | 'none'
    readonly form: 'key' | 'service-account'
  }
  readonly fields: readonly CredentialField[]
}

interface CredentialField {
  readonly name: string
  readonly secret: boolean
  readonly optional: boolean
}

const PAIR = ['access_key', 'secret_key'] as const

export function describeKind(provider: Provider): VendorKind {
  const { kind, name, defaultBaseUrl: baseUrl, dialects, video } = provider
  const auths = new Set(
    [...Object.values(dialects), ...(video === undefined ? [] : [video])].map(({ auth }) => auth.kind),
  )
  return {
    kind,
    name,
    protocols: [...Object.keys(dialects), ...(video === undefined ? [] : ['video'])],
    baseUrl,
    secret: {
      need: needOf(auths, provider),
      form: auths.has('google-oauth') ? 'service-account' : 'key',
    },
    fields: fieldsOf(auths, provider),
  }
}

/** Ways to sign in with one secret. */
const KEYED: readonly Auth['kind'][] = ['bearer', 'header', 'jwt-hs256', 'aws-sigv4', 'google-oauth']

type Auths = ReadonlySet<Auth['kind']>

/** A pair of keys may replace the secret. */
function hasPair(auths: Auths): boolean {
  return auths.has('jwt-hs256') || auths.has('volc-hmac') || auths.has('aws-sigv4')
}

function takesKey(auths: Auths): boolean {
  return KEYED.some((kind) => auths.has(kind))
}

function needOf(auths: Auths, { ownServer }: Provider): VendorKind['secret']['need'] {
  if (!takesKey(auths)) return 'none'
  return hasPair(auths) || ownServer === true ? 'optional' : 'needed'
}

function fieldsOf(auths: Auths, { publicFields, defaultBaseUrl }: Provider): readonly CredentialField[] {
  const pair = hasPair(auths) ? PAIR : []
  return [
    ...pair.map((name) => ({ name, secret: true, optional: takesKey(auths) })),
    ...(auths.has('aws-sigv4') ? [{ name: 'session_token', secret: true, optional: true }] : []),
    ...publicFields.map((name) => ({
      name,
      secret: false,
      optional: defaultBaseUrl?.includes(`{${name}}`) !== true,
    })),
  ]
}
