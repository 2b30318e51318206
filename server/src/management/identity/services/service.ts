/** Another service people may sign in through: a way there, and who came back. One folder each. */

export interface SignInService {
  /** In addresses and links; unchanging, since stored links name it. */
  readonly name: string
  /** What the button says. */
  readonly label: string
  /** Where the browser goes. */
  start(redirectUri: string): Promise<ServiceStart>
  /** Who came back; rejects when the answer is not right or the service does not give it. */
  finish(callback: URL, started: ServiceMemory): Promise<ServicePerson>
}

export interface ServiceStart {
  readonly url: URL
  readonly memory: ServiceMemory
}

/** What has to be the same when the browser comes back. Kept here; the browser only holds the token that finds it. */
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
  /** Only one the service says it has verified. */
  readonly verifiedEmail: string | undefined
}

/** As the web knows it; made of what upstream/ guards. */
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
  /** With the colon. */
  readonly schemes: readonly string[]
  /** Origins the operator names by this address: they may lie in a private network. */
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
