import { configure, finishFlow, startFlow } from '../oauth.ts'
import { labelOf, nameOf, type ServiceAddress, type ServiceFetch, type ServiceKind } from '../service.ts'

/**
 * GitHub's OAuth apps, which are not an OpenID provider: the person is read from its API. Another host is a GitHub
 * Enterprise server, whose API is under `/api/v3`; `?endpoint=` names one without TLS.
 */
export const github: ServiceKind = {
  schemes: ['github:'],
  trustedOrigins: (address) => {
    const { web, api } = placesOf(address)
    return web.startsWith(PUBLIC_WEB) ? [] : [new URL(web).origin, new URL(api).origin]
  },
  open(address, fetch) {
    const { web, api } = placesOf(address)
    const server = {
      issuer: web,
      authorization_endpoint: `${web}/login/oauth/authorize`,
      token_endpoint: `${web}/login/oauth/access_token`,
    }
    const configured = () => configure(server, address, fetch)
    return {
      name: nameOf(address, 'github'),
      label: labelOf(address, 'GitHub'),
      start: async (redirectUri) => startFlow(await configured(), redirectUri, 'read:user user:email'),
      async finish(callback, memory) {
        const tokens = await finishFlow(await configured(), callback, { memory, kind: 'plain' })
        const ask = askApi(api, tokens.access_token, fetch)
        return personOf(await ask('/user'), await ask('/user/emails'))
      },
    }
  },
}

const PUBLIC_WEB = 'https://github.com'
const PUBLIC_API = 'https://api.github.com'

function placesOf({ url }: ServiceAddress): { readonly web: string; readonly api: string } {
  const endpoint = url.searchParams.get('endpoint')
  const web = endpoint === null ? `https://${url.host}` : endpoint.replace(/\/+$/, '')
  return { web, api: web === PUBLIC_WEB ? PUBLIC_API : `${web}/api/v3` }
}

function askApi(api: string, token: string, fetch: ServiceFetch): (path: string) => Promise<unknown> {
  return async (path) => {
    const answer = await fetch(`${api}${path}`, {
      method: 'GET',
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/vnd.github+json',
        'user-agent': 'sluice',
      },
      body: undefined,
    })
    if (answer.status !== 200) throw new Error(`the service answered ${path} with status ${answer.status}`)
    return answer.json()
  }
}

function personOf(user: unknown, emails: unknown) {
  if (!isRecord(user) || typeof user['id'] !== 'number' || typeof user['login'] !== 'string')
    throw new Error('the service does not say who this is')
  const primary = Array.isArray(emails)
    ? emails.filter(isRecord).find((each) => each['primary'] === true && each['verified'] === true)
    : undefined
  return {
    subject: String(user['id']),
    label: user['login'],
    verifiedEmail: typeof primary?.['email'] === 'string' ? primary['email'] : undefined,
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
