/** The kinds of services, and those the operator configured. A new kind is a folder and a line here. */
import type { Secret } from '../../../core/secret.ts'
import { github } from './github/index.ts'
import { google } from './google/index.ts'
import { oidc } from './oidc/index.ts'
import type { ServiceAddress, ServiceFetch, ServiceKind, SignInService } from './service.ts'

const KINDS: readonly ServiceKind[] = [oidc, github, google]

/** Creates the fetch function, which may reach these origins even if they are private. */
export type MakeServiceFetch = (trustedOrigins: readonly string[]) => ServiceFetch

/** By name. Throws if an entry of `SLUICE_SIGN_IN` cannot be used; messages never contain secrets. */
export function openServices(
  entries: readonly Secret[],
  makeFetch: MakeServiceFetch,
): ReadonlyMap<string, SignInService> {
  const services = new Map<string, SignInService>()
  for (const [index, entry] of entries.entries()) {
    const address = readAddress(entry, index)
    const kind = KINDS.find(({ schemes }) => schemes.includes(address.url.protocol))
    if (kind === undefined) throw new Error(`SLUICE_SIGN_IN: unknown scheme ${address.url.protocol}`)
    const service = kind.open(address, makeFetch(kind.trustedOrigins(address)))
    if (services.has(service.name))
      throw new Error(
        `SLUICE_SIGN_IN: two services are named ${service.name}; give one of them another ?name=`,
      )
    services.set(service.name, service)
  }
  return services
}

function readAddress(entry: Secret, index: number): ServiceAddress {
  const text = entry.unwrap()
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || url.username === '' || url.password === '' || url.host === '')
    throw new Error(
      `SLUICE_SIGN_IN: entry ${index + 1} is not of the form kind://client-id:client-secret@host`,
    )
  return {
    url,
    clientId: decodeURIComponent(url.username),
    clientSecret: decodeURIComponent(url.password),
  }
}
