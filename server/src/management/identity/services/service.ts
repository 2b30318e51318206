/** A service that people can sign in through: the redirect there, and the person who comes back. One folder each. */

export interface SignInService {
  /** In addresses and links; unchanging, since stored links name it. */
  readonly name: string
  /** Label of the button. */
  readonly label: string
  /** Address the browser is redirected to. */
  start(redirectUri: string): Promise<ServiceStart>
  /** The person who came back; rejects if the answer is invalid or missing. */
  finish(callback: URL, started: ServiceMemory): Promise<ServicePerson>
}

export interface ServiceStart {
  readonly url: URL
  readonly memory: ServiceMemory
}

/** Values that must match when the browser comes back. Stored here; the browser only has the token that finds them. */
export interface ServiceMemory {
  readonly state: string
  readonly nonce: string
  readonly codeVerifier: string
  readonly redirectUri: string
}

export interface ServicePerson {
  /** The service's own unchanging id of the person. */
  readonly subject: string
  readonly label: string
  /** Only an address that the service has verified. */
  readonly verifiedEmail: string | undefined
}

/** Like the web's fetch, implemented with the guarded requests of upstream/. */
export type ServiceFetch = (
  url: string,
  request: {
    readonly method: 'GET' | 'POST'
    readonly headers: Readonly<Record<string, string>>
    readonly body: string | undefined
  },
) => Promise<Response>

/** One entry of `SLUICE_SIGN_IN`, read. */
export interface ServiceAddress {
  readonly url: URL
  readonly clientId: string
  readonly clientSecret: string
}

export interface ServiceKind {
  /** Including the colon. */
  readonly schemes: readonly string[]
  /** Origins that the operator configured with this address: they may be in a private network. */
  trustedOrigins(address: ServiceAddress): readonly string[]
  open(address: ServiceAddress, fetch: ServiceFetch): SignInService
}

export function nameOf({ url }: ServiceAddress, fallback: string): string {
  const name = url.searchParams.get('name') ?? fallback
  if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(name))
    throw new Error('SLUICE_SIGN_IN: a name has lower-case letters, digits and hyphens, at most 32')
  return name
}

export function labelOf({ url }: ServiceAddress, fallback: string): string {
  return url.searchParams.get('label') ?? fallback
}
