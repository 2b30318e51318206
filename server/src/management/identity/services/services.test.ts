/** Services as they are configured, and what a discovery document may make us do. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openScriptedUpstream, type ScriptedUpstream } from '../../../../test/gateway/scripted-upstream.ts'
import { type IdentityProvider, openIdentityProvider } from '../../../../test/identity/identity-provider.ts'
import { Secret } from '../../../core/secret.ts'
import { AllowList } from '../../../upstream/connect/guard.ts'
import { createSmallFetch } from '../../../upstream/remote/small-fetch.ts'
import { type MakeServiceFetch, openServices } from './index.ts'
import type { SignInService } from './service.ts'

const makeFetch: MakeServiceFetch = (trusted) => {
  const fetchSmall = createSmallFetch({ trusted, allow: new AllowList([]) })
  return async (url, request) => {
    const { status, body } = await fetchSmall({ url, ...request })
    return new Response(Uint8Array.from(body), { status, headers: { 'content-type': 'application/json' } })
  }
}

const open = (...entries: string[]) =>
  openServices(
    entries.map((entry) => new Secret(entry)),
    makeFetch,
  )

describe('SLUICE_SIGN_IN', () => {
  test('names each service once', () => {
    const services = open(
      'oidc://id:secret@issuer.example/realm?name=corp&label=Example',
      'github://id:secret@github.com',
      'google://id:secret@accounts.google.com',
    )
    expect([...services.values()].map(({ name, label }) => [name, label])).toEqual([
      ['corp', 'Example'],
      ['github', 'GitHub'],
      ['google', 'Google'],
    ])
  })

  test.each([
    ['without a secret', ['oidc://id@issuer.example'], 'entry 1'],
    ['no address', ['oidc'], 'entry 1'],
    ['of an unknown kind', ['saml://id:top-secret@issuer.example'], 'saml:'],
    ['twice', ['github://a:b@github.com', 'github://c:d@github.com'], 'two services'],
    ['with a name for no address', ['oidc://a:b@issuer.example?name=../x'], 'name'],
  ])('%s stops the start, without showing a secret', (_what, entries, why) => {
    expect(() => open(...entries)).toThrow(why)
    expect(() => open(...entries)).not.toThrow(/top-secret/)
  })
})

describe('a discovery document', () => {
  let provider: IdentityProvider
  let inside: ScriptedUpstream
  beforeAll(async () => {
    provider = await openIdentityProvider()
    inside = await openScriptedUpstream()
  })
  afterAll(async () => {
    await provider.close()
    await inside.close()
  })

  function service(): SignInService {
    const client = `${encodeURIComponent(provider.clientId)}:${encodeURIComponent(provider.clientSecret)}`
    const found = open(`oidc+http://${client}@${new URL(provider.url).host}`).get('oidc')
    if (found === undefined) throw new Error('the service was not opened')
    return found
  }

  test.each(['token_endpoint', 'jwks_uri'])('cannot make us ask inside our network: %s', async (member) => {
    provider.document = { [member]: `${inside.url}/inside` }
    const opened = service()
    const { url, memory } = await opened.start('https://sluice.example/callback')
    const back = new URL(await provider.consent(url.href))
    await expect(opened.finish(back, memory)).rejects.toThrow()
    expect(inside.requests).toHaveLength(0)
  })

  test('cannot send browsers to what is no web page', async () => {
    provider.document = { authorization_endpoint: 'javascript:alert(1)' }
    await expect(service().start('https://sluice.example/callback')).rejects.toThrow()
  })

  test('of another issuer than the configured one is refused', async () => {
    provider.document = { issuer: 'https://evil.example' }
    await expect(service().start('https://sluice.example/callback')).rejects.toThrow()
  })

  test('that could not be read is asked for again the next time', async () => {
    const opened = service()
    provider.document = { issuer: 'https://evil.example' }
    await expect(opened.start('https://sluice.example/callback')).rejects.toThrow()
    provider.document = {}
    await expect(opened.start('https://sluice.example/callback')).resolves.toMatchObject({ memory: {} })
  })
})
