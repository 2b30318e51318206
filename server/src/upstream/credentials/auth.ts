/** Credentials become headers here and nowhere else: the only code of the product that unwraps a vendor's secret. */
import type { CredentialSecret } from '../../core/catalogue.ts'
import { parseServiceAccount, type ServiceAccount } from './service-account.ts'
import { type AwsKey, signAws } from './sign-aws.ts'
import { type KeyPair, signJwt } from './sign-jwt.ts'
import { signVolc } from './sign-volc.ts'
import type { TokenCache } from './token-cache.ts'
import type { UpstreamCall } from '../upstream.ts'
import type { HeaderList } from './header-list.ts'

/** A credential that does not hold what its scheme needs; the text names the field, never a value. */
export class CredentialError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CredentialError'
  }
}

/** At once where the scheme allows it; a promise where a token has to be fetched or a large body hashed. */
export function applyAuth(
  call: UpstreamCall,
  tokens: TokenCache,
  epochMs: number,
): HeaderList | Promise<HeaderList> {
  const { auth, credential } = call
  // A credential is one secret or named fields; where an address needs fields, the key is one of them.
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
      return signJwt(keyPairOf(credential), epochMs).then(bearer)
    case 'volc-hmac':
      return signVolc(call, auth, keyPairOf(credential), epochMs)
    case 'google-oauth':
      return bearerOf(tokens.read(serviceAccountOf(credential), epochMs))
    case 'aws-sigv4':
      // Bedrock also hands out plain keys; where there is one, nothing has to be signed.
      if (key !== undefined) return bearer(key.unwrap())
      return signAws(call, auth.service, awsKeyOf(credential), epochMs)
  }
}

/**
 * Values of fields that are no secret (`Provider.publicFields`), for the forming of addresses. One that could lead an
 * address elsewhere counts as not there: customers write such fields in credentials of their own.
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

/** There is a secret in it, whatever it is worth. */
export function holdsKey({ secret, fields }: CredentialSecret, publicNames: readonly string[]): boolean {
  const named = Object.entries(fields).filter(([name]) => !publicNames.includes(name))
  return [secret, ...named.map(([, field]) => field)].some(
    (one) => one !== undefined && one.unwrap().trim() !== '',
  )
}

/** Of regions and resources a host name is made: no dot, no slash, no port. */
const PLACE = /^[\w-]{1,100}$/
const OTHER_PLACES: Readonly<Record<string, RegExp>> = {
  api_version: /^\w[\w.-]{0,99}$/,
  project: /^\w[\w.:-]{0,99}$/,
  storage_uri: /^gs:\/\/\w[\w./-]{0,999}$/,
}

function fitsAddress(name: string, value: string): boolean {
  return (OTHER_PLACES[name] ?? PLACE).test(value)
}

/** A public field of a credential that could lead an address elsewhere; undefined: there is none. */
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
