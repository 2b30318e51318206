import type { Configuration } from 'openid-client'
import { DISCOVERY_LIFE_MS, discover, finishFlow, startFlow } from '../oauth.ts'
import {
  labelOf,
  nameOf,
  type ServiceAddress,
  type ServiceFetch,
  type ServiceKind,
  type ServicePerson,
  type SignInService,
} from '../service.ts'

/** Any OpenID provider: everything else is in its discovery document. `oidc+http:` is for one inside the operator's network. */
export const oidc: ServiceKind = {
  schemes: ['oidc:', 'oidc+http:'],
  trustedOrigins: (address) => [issuerOf(address).origin],
  open: (address, fetch) => openProvider({ ...address, issuer: issuerOf(address) }, fetch),
}

export interface ProviderAddress extends ServiceAddress {
  readonly issuer: URL
}

export function openProvider(address: ProviderAddress, fetch: ServiceFetch): SignInService {
  let known: { readonly at: number; readonly configuration: Promise<Configuration> } | undefined
  const configured = (): Promise<Configuration> => {
    const at = performance.now()
    if (known !== undefined && at - known.at < DISCOVERY_LIFE_MS) return known.configuration
    const configuration = discover(address.issuer, address, fetch)
    known = { at, configuration }
    // A failure is not cached.
    configuration.catch(() => {
      known = undefined
    })
    return configuration
  }
  return {
    name: nameOf(address, 'oidc'),
    label: labelOf(address, address.issuer.hostname),
    start: async (redirectUri) => startFlow(await configured(), redirectUri, 'openid email profile'),
    async finish(callback, memory) {
      const tokens = await finishFlow(await configured(), callback, { memory, kind: 'openid' })
      const claims = tokens.claims()
      if (claims === undefined) throw new Error('the service gave no id token')
      return personOf(claims)
    },
  }
}

function personOf(claims: Readonly<Record<string, unknown>> & { readonly sub: string }): ServicePerson {
  const email = typeof claims['email'] === 'string' ? claims['email'] : undefined
  const name = typeof claims['name'] === 'string' ? claims['name'] : undefined
  return {
    subject: claims.sub,
    label: email ?? name ?? claims.sub,
    verifiedEmail: claims['email_verified'] === true ? email : undefined,
  }
}

function issuerOf({ url }: ServiceAddress): URL {
  const scheme = url.protocol === 'oidc+http:' ? 'http' : 'https'
  return new URL(`${scheme}://${url.host}${url.pathname === '' ? '/' : url.pathname}`)
}
