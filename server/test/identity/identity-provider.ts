/** A small OpenID provider on loopback, and beside it what GitHub's web and API answer: real HTTP, real signatures. */
import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Visitor {
  readonly sub: string
  readonly email?: string
  readonly email_verified?: boolean
  readonly name?: string
}

export interface IdentityProvider {
  readonly url: string
  readonly clientId: string
  readonly clientSecret: string
  /** Who consents at the sign-in page. */
  visitor: Visitor
  /** Claims that replace those of the next id tokens. */
  claims: Readonly<Record<string, unknown>>
  /** Members that replace those of the discovery document. */
  document: Readonly<Record<string, unknown>>
  /** Signs with a key nobody published. */
  forges: boolean
  /** Paths asked for. */
  readonly asked: string[]
  /** What the browser does with the start's address: signs in there and is sent back to this address. */
  consent(authorizationUrl: string): Promise<string>
  close(): Promise<void>
}

interface Grant {
  readonly nonce: string | null
  readonly challenge: string | null
  readonly redirectUri: string | null
  readonly visitor: Visitor
}

export async function openIdentityProvider(): Promise<IdentityProvider> {
  const [key, otherKey] = [newKey(), newKey()]
  const grants = new Map<string, Grant>()
  const tokens = new Map<string, Visitor>()
  const asked: string[] = []

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.writeHead(500)
      response.end(String(error))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const provider: IdentityProvider = {
    url,
    clientId: 'sluice client',
    clientSecret: 'very/secret',
    visitor: { sub: 'person-1' },
    claims: {},
    document: {},
    forges: false,
    asked,
    consent: (address) => Promise.resolve(consent(new URL(address))),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }

  function consent(address: URL): string {
    const query = address.searchParams
    if (query.get('client_id') !== provider.clientId) throw new Error('another client')
    const code = randomBytes(16).toString('hex')
    grants.set(code, {
      nonce: query.get('nonce'),
      challenge: query.get('code_challenge_method') === 'S256' ? query.get('code_challenge') : null,
      redirectUri: query.get('redirect_uri'),
      visitor: provider.visitor,
    })
    const back = new URL(query.get('redirect_uri') ?? '')
    back.searchParams.set('code', code)
    back.searchParams.set('state', query.get('state') ?? '')
    return back.href
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?')[0] ?? '/'
    asked.push(path)
    const body = new URLSearchParams(await textOf(request))
    const send = (status: number, value: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(value))
    }
    switch (path) {
      case '/.well-known/openid-configuration':
        send(200, {
          issuer: url,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
          jwks_uri: `${url}/keys`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['ES256'],
          ...provider.document,
        })
        return
      // Whoever comes says yes at once.
      case '/authorize':
        response.writeHead(302, { location: consent(new URL(request.url ?? '/', url)) })
        response.end()
        return
      case '/keys':
        send(200, { keys: [{ ...key.publicJwk, kid: 'k1', alg: 'ES256', use: 'sig' }] })
        return
      case '/token':
      case '/login/oauth/access_token': {
        const grant = redeem(request, body)
        if (grant === undefined) {
          send(400, { error: 'invalid_grant' })
          return
        }
        const token = randomBytes(16).toString('hex')
        tokens.set(token, grant.visitor)
        const openid = path === '/token' ? { id_token: idToken(grant) } : {}
        send(200, { access_token: token, token_type: 'bearer', ...openid })
        return
      }
      case '/api/v3/user': {
        const visitor = tokens.get(/^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '')
        if (visitor === undefined) send(401, {})
        else send(200, { id: Number(visitor.sub), login: visitor.name })
        return
      }
      case '/api/v3/user/emails':
        send(200, [
          { email: 'other@example.com', primary: false, verified: true },
          { email: provider.visitor.email, primary: true, verified: provider.visitor.email_verified },
        ])
        return
      default:
        send(404, {})
    }
  }

  /** The code once, with the client's secret and the verifier its challenge was made of. */
  function redeem(request: IncomingMessage, body: URLSearchParams): Grant | undefined {
    const code = body.get('code') ?? ''
    const grant = grants.get(code)
    grants.delete(code)
    const digest = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url')
    const known =
      grant !== undefined && grant.challenge === digest && grant.redirectUri === body.get('redirect_uri')
    return known && isClient(request, body) ? grant : undefined
  }

  function isClient(request: IncomingMessage, body: URLSearchParams): boolean {
    const [, basic] = /^Basic (.+)$/.exec(request.headers.authorization ?? '') ?? []
    const [id, secret] =
      basic === undefined
        ? [body.get('client_id'), body.get('client_secret')]
        : Buffer.from(basic, 'base64')
            .toString()
            .split(':')
            .map((part) => decodeURIComponent(part.replaceAll('+', ' ')))
    return id === provider.clientId && secret === provider.clientSecret
  }

  function idToken(grant: Grant): string {
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      iss: url,
      aud: provider.clientId,
      iat: now,
      exp: now + 300,
      nonce: grant.nonce,
      ...grant.visitor,
      ...provider.claims,
    }
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    const signed = `${part({ alg: 'ES256', typ: 'JWT', kid: 'k1' })}.${part(claims)}`
    const { privateKey } = provider.forges ? otherKey : key
    const signature = createSign('sha256').update(signed).sign({ key: privateKey, dsaEncoding: 'ieee-p1363' })
    return `${signed}.${signature.toString('base64url')}`
  }

  return provider
}

function newKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { privateKey, publicJwk: publicKey.export({ format: 'jwk' }) }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
