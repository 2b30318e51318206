/**
 * The OAuth part that the kinds share: the library, using the gateway's own fetch function. Loaded only if a service is
 * configured.
 */
import type { Configuration, CustomFetch, ServerMetadata } from 'openid-client'
import type { ServiceAddress, ServiceFetch, ServiceMemory, ServiceStart } from './service.ts'

const library = () => import('openid-client')

/** A discovery document is read again after an hour, because keys and endpoints change. */
export const DISCOVERY_LIFE_MS = 3_600_000

export async function discover(
  issuer: URL,
  address: ServiceAddress,
  fetch: ServiceFetch,
): Promise<Configuration> {
  const client = await library()
  // The signature of an id token is checked even though it comes directly from the issuer.
  const execute = [
    client.enableNonRepudiationChecks,
    ...(issuer.protocol === 'http:' ? [client.allowInsecureRequests] : []),
  ]
  return client.discovery(issuer, address.clientId, address.clientSecret, undefined, {
    execute,
    [client.customFetch]: libraryFetch(fetch),
  })
}

/** For a service without a discovery document. */
export async function configure(
  server: ServerMetadata,
  address: ServiceAddress,
  fetch: ServiceFetch,
): Promise<Configuration> {
  const client = await library()
  const configuration = new client.Configuration(server, address.clientId, address.clientSecret)
  configuration[client.customFetch] = libraryFetch(fetch)
  if (server.issuer.startsWith('http:')) client.allowInsecureRequests(configuration)
  return configuration
}

export async function startFlow(
  configuration: Configuration,
  redirectUri: string,
  scope: string,
): Promise<ServiceStart> {
  const {
    buildAuthorizationUrl,
    calculatePKCECodeChallenge,
    randomNonce,
    randomPKCECodeVerifier,
    randomState,
  } = await library()
  const memory: ServiceMemory = {
    state: randomState(),
    nonce: randomNonce(),
    codeVerifier: randomPKCECodeVerifier(),
    redirectUri,
  }
  const url = buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    scope,
    state: memory.state,
    nonce: memory.nonce,
    code_challenge: await calculatePKCECodeChallenge(memory.codeVerifier),
    code_challenge_method: 'S256',
  })
  if (!/^https?:$/.test(url.protocol))
    throw new Error('the service’s authorization endpoint is not a web address')
  return { url, memory }
}

/** Exchanges the code. `openid`: an id token of this sign-in is required. */
export async function finishFlow(
  configuration: Configuration,
  callback: URL,
  { memory, kind }: { readonly memory: ServiceMemory; readonly kind: 'openid' | 'plain' },
) {
  const { authorizationCodeGrant } = await library()
  // The address as given to the service, whatever the address of the request.
  const current = new URL(memory.redirectUri)
  current.search = callback.search
  return authorizationCodeGrant(configuration, current, {
    expectedState: memory.state,
    pkceCodeVerifier: memory.codeVerifier,
    ...(kind === 'openid' ? { expectedNonce: memory.nonce, idTokenExpected: true } : {}),
  })
}

function libraryFetch(ask: ServiceFetch): CustomFetch {
  return (url, { method, headers, body }) => {
    if (method !== 'GET' && method !== 'POST') throw new Error(`a sign-in service is not asked by ${method}`)
    return ask(url, { method, headers, body: textOf(body) })
  }
}

function textOf(body: unknown): string | undefined {
  if (body === undefined || body === null) return undefined
  if (typeof body === 'string') return body
  if (body instanceof URLSearchParams) return body.toString()
  throw new Error('a request to a sign-in service has a body of an unknown kind')
}
