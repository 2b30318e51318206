import { openProvider } from '../oidc/index.ts'
import type { ServiceKind } from '../service.ts'

const ISSUER = new URL('https://accounts.google.com')

/** An OpenID provider with a fixed issuer. */
export const google: ServiceKind = {
  schemes: ['google:'],
  trustedOrigins: () => [],
  open(address, fetch) {
    const url = new URL(address.url)
    if (!url.searchParams.has('name')) url.searchParams.set('name', 'google')
    if (!url.searchParams.has('label')) url.searchParams.set('label', 'Google')
    return openProvider({ ...address, url, issuer: ISSUER }, fetch)
  },
}
