import { createHash, createHmac, createVerify, generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { CredentialSecret } from '../../core/catalogue.ts'
import type { Auth } from '../../core/http-request.ts'
import { Secret } from '../../core/secret.ts'
import { applyAuth, CredentialError, readPublicFields } from './auth.ts'
import { TokenCache } from './token-cache.ts'
import type { Upstream, UpstreamCall } from '../upstream.ts'
import type { HeaderList } from './header-list.ts'

/** 2015-08-30T12:36:00Z, the time of AWS's published test suite. */
const AT = Date.UTC(2015, 7, 30, 12, 36, 0)

const noNetwork: Upstream['open'] = () => {
  throw new Error('no connection was expected')
}

function credential(fields: Record<string, string>, secret?: string): CredentialSecret {
  return {
    secret: secret === undefined ? undefined : new Secret(secret),
    fields: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, new Secret(value)])),
  }
}

function call(auth: Auth, secret: CredentialSecret, changes: Partial<UpstreamCall> = {}): UpstreamCall {
  return {
    request: { method: 'POST', url: 'https://example.amazonaws.com/', headers: {} },
    auth,
    credential: secret,
    body: undefined,
    bodyLength: 0,
    timeouts: { connectMs: 1, firstByteMs: 1, idleMs: 1 },
    ...changes,
  }
}

async function headersOf(
  given: UpstreamCall,
  at = AT,
  tokens = new TokenCache(noNetwork),
): Promise<Map<string, string>> {
  const list: HeaderList = await applyAuth(given, tokens, at)
  const headers = new Map<string, string>()
  for (let index = 0; index < list.length; index += 2) headers.set(list[index] ?? '', list[index + 1] ?? '')
  return headers
}

describe('a plain key', () => {
  test.each<[Auth, Record<string, string>]>([
    [{ kind: 'bearer' }, { authorization: 'Bearer sk-1' }],
    [{ kind: 'header', name: 'x-api-key' }, { 'x-api-key': 'sk-1' }],
    [{ kind: 'header', name: 'authorization', prefix: 'Token ' }, { authorization: 'Token sk-1' }],
    [{ kind: 'none' }, {}],
    [{ kind: 'aws-sigv4', service: 'bedrock' }, { authorization: 'Bearer sk-1' }],
  ])('%j', async (auth, expected) => {
    expect(Object.fromEntries(await headersOf(call(auth, credential({}, 'sk-1'))))).toEqual(expected)
  })

  test('is the field api_key where the credential has fields', async () => {
    const fields = { api_key: 'sk-2', region: 'us-east-1' }
    const headers = await headersOf(call({ kind: 'aws-sigv4', service: 'bedrock' }, credential(fields)))
    expect(Object.fromEntries(headers)).toEqual({ authorization: 'Bearer sk-2' })
  })

  test.each<Auth>([{ kind: 'bearer' }, { kind: 'header', name: 'x-api-key' }])(
    '%j without a secret sends none: a server of the operator may be open',
    async (auth) => {
      expect((await headersOf(call(auth, credential({})))).size).toBe(0)
    },
  )
})

describe('AWS signature version 4', () => {
  const auth: Auth = { kind: 'aws-sigv4', service: 'service' }
  const key = {
    access_key: 'AKIDEXAMPLE',
    secret_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
  }

  test('signs host, date and body hash under the scope of day, region and service', async () => {
    const headers = await headersOf(call(auth, credential(key)))
    expect(headers.get('x-amz-date')).toBe('20150830T123600Z')
    expect(headers.get('x-amz-content-sha256')).toBe(
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    )
    expect(headers.get('authorization')).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20150830\/us-east-1\/service\/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=[0-9a-f]{64}$/,
    )
  })

  test('equals a signature worked out step by step for a path with a colon, as Bedrock has', async () => {
    const body = Buffer.from('{"a":1}')
    const url =
      'https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-v1%3A0/invoke?b=2&a=%20'
    const headers = await headersOf(
      call(auth, credential({ ...key, session_token: 'session' }), {
        request: { method: 'POST', url, headers: {} },
        body: [body.subarray(0, 3), body.subarray(3)],
        bodyLength: body.byteLength,
      }),
    )
    const bodyHash = createHash('sha256').update(body).digest('hex')
    const canonical = [
      'POST',
      // The sent path is encoded once more.
      '/model/anthropic.claude-v1%253A0/invoke',
      'a=%20&b=2',
      'host:bedrock-runtime.us-east-1.amazonaws.com',
      `x-amz-content-sha256:${bodyHash}`,
      'x-amz-date:20150830T123600Z',
      'x-amz-security-token:session',
      '',
      'host;x-amz-content-sha256;x-amz-date;x-amz-security-token',
      bodyHash,
    ].join('\n')
    expect(headers.get('x-amz-content-sha256')).toBe(bodyHash)
    expect(headers.get('x-amz-security-token')).toBe('session')
    const toSign = `AWS4-HMAC-SHA256\n20150830T123600Z\n20150830/us-east-1/service/aws4_request\n${createHash('sha256').update(canonical).digest('hex')}`
    const hmac = (with_: string | Buffer, text: string): Buffer =>
      createHmac('sha256', with_).update(text).digest()
    const signing = hmac(
      hmac(hmac(hmac(`AWS4${key.secret_key}`, '20150830'), 'us-east-1'), 'service'),
      'aws4_request',
    )
    expect(headers.get('authorization')).toContain(`Signature=${hmac(signing, toSign).toString('hex')}`)
  })

  test('a body of many megabytes is hashed in turns, with the same result', async () => {
    const body = [Buffer.alloc(9_000_000, 1), Buffer.alloc(3_000_000, 2)]
    const given = call(auth, credential(key), { body, bodyLength: 12_000_000 })
    expect(applyAuth(given, new TokenCache(noNetwork), AT)).toBeInstanceOf(Promise)
    const whole = createHash('sha256').update(Buffer.concat(body)).digest('hex')
    expect((await headersOf(given)).get('x-amz-content-sha256')).toBe(whole)
  })

  test('a credential without a field names it, and no value', () => {
    const { region: _region, ...incomplete } = key
    const sign = (): unknown => applyAuth(call(auth, credential(incomplete)), new TokenCache(noNetwork), AT)
    expect(sign).toThrow(CredentialError)
    expect(sign).toThrow('the credential has no field region')
  })
})

test.each([
  ['as the secret', { secret: new Secret('sk-plain'), fields: {} }],
  ['in a field', credential({ api_key: 'sk-plain' })],
])('a plain key %s is sent as it is where a pair would sign', async (_where, given) => {
  const headers = await headersOf(call({ kind: 'jwt-hs256' }, given))
  expect(headers.get('authorization')).toBe('Bearer sk-plain')
})

test('a JWT of access key and secret key is valid for half an hour', async () => {
  const headers = await headersOf(
    call({ kind: 'jwt-hs256' }, credential({ access_key: 'ak', secret_key: 'sk' })),
  )
  const [header, claims, signature] = (headers.get('authorization') ?? '').replace('Bearer ', '').split('.')
  expect(JSON.parse(Buffer.from(header ?? '', 'base64url').toString())).toEqual({ alg: 'HS256', typ: 'JWT' })
  expect(JSON.parse(Buffer.from(claims ?? '', 'base64url').toString())).toEqual({
    iss: 'ak',
    exp: AT / 1000 + 1800,
    nbf: AT / 1000 - 5,
  })
  expect(signature).toBe(createHmac('sha256', 'sk').update([header, claims].join('.')).digest('base64url'))
})

test('Volcengine signs with a bare secret key and its own words', async () => {
  const body = Buffer.from('{"req_key":"x"}')
  const auth: Auth = { kind: 'volc-hmac', service: 'cv', region: 'cn-north-1' }
  const headers = await headersOf(
    call(auth, credential({ access_key: 'AK', secret_key: 'SK' }), {
      request: {
        method: 'POST',
        url: 'https://visual.volcengineapi.com/?Version=2022-08-31&Action=CVSync2AsyncSubmitTask',
        headers: { 'content-type': 'application/json' },
      },
      body: [body],
      bodyLength: body.byteLength,
    }),
  )
  const bodyHash = createHash('sha256').update(body).digest('hex')
  const canonical = [
    'POST',
    '/',
    'Action=CVSync2AsyncSubmitTask&Version=2022-08-31',
    'content-type:application/json',
    'host:visual.volcengineapi.com',
    `x-content-sha256:${bodyHash}`,
    'x-date:20150830T123600Z',
    '',
    'content-type;host;x-content-sha256;x-date',
    bodyHash,
  ].join('\n')
  const scope = '20150830/cn-north-1/cv/request'
  const toSign = `HMAC-SHA256\n20150830T123600Z\n${scope}\n${createHash('sha256').update(canonical).digest('hex')}`
  const hmac = (with_: string | Buffer, text: string): Buffer =>
    createHmac('sha256', with_).update(text).digest()
  const signing = hmac(hmac(hmac(hmac('SK', '20150830'), 'cn-north-1'), 'cv'), 'request')
  expect(headers.get('authorization')).toBe(
    `HMAC-SHA256 Credential=AK/${scope}, SignedHeaders=content-type;host;x-content-sha256;x-date, Signature=${hmac(signing, toSign).toString('hex')}`,
  )
})

describe('a Google service account', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const file = JSON.stringify({
    type: 'service_account',
    project_id: 'my-project',
    private_key_id: 'kid1',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: 'gateway@my-project.iam.gserviceaccount.com',
    token_uri: 'https://oauth2.googleapis.com/token',
  })

  function tokenServer(answers: readonly { status: number; body: string }[]): {
    open: Upstream['open']
    calls: UpstreamCall[]
  } {
    const calls: UpstreamCall[] = []
    return {
      calls,
      open: (given, sink) => {
        const answer = answers[calls.length]
        calls.push(given)
        queueMicrotask(() => {
          sink.head({ status: answer?.status ?? 500, headers: {} })
          sink.data(Buffer.from(answer?.body ?? '{}'))
          sink.end()
        })
        return { sent: true, pause: () => undefined, resume: () => undefined, abort: () => undefined }
      },
    }
  }

  const granted = (token: string): { status: number; body: string } => ({
    status: 200,
    body: JSON.stringify({ access_token: token, expires_in: 3600, token_type: 'Bearer' }),
  })

  test('asks for a token with a signed assertion', async () => {
    const { open, calls } = tokenServer([granted('ya29.one')])
    const headers = await headersOf(
      call({ kind: 'google-oauth' }, credential({ service_account: file })),
      AT,
      new TokenCache(open),
    )
    expect(headers.get('authorization')).toBe('Bearer ya29.one')
    const form = new URLSearchParams(
      Buffer.concat((calls[0]?.body ?? []).filter((piece) => piece instanceof Uint8Array)).toString(),
    )
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    const [header, claims, signature] = (form.get('assertion') ?? '').split('.')
    expect(JSON.parse(Buffer.from(header ?? '', 'base64url').toString())).toEqual({
      alg: 'RS256',
      typ: 'JWT',
      kid: 'kid1',
    })
    expect(JSON.parse(Buffer.from(claims ?? '', 'base64url').toString())).toMatchObject({
      iss: 'gateway@my-project.iam.gserviceaccount.com',
      aud: 'https://oauth2.googleapis.com/token',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      iat: AT / 1000,
      exp: AT / 1000 + 3600,
    })
    const verify = createVerify('RSA-SHA256').update([header, claims].join('.'))
    expect(verify.verify(publicKey, Buffer.from(signature ?? '', 'base64url'))).toBe(true)
  })

  test('one token serves concurrent and later calls, and is renewed five minutes before its end', async () => {
    const { open, calls } = tokenServer([granted('one'), granted('two')])
    const tokens = new TokenCache(open)
    const given = call({ kind: 'google-oauth' }, credential({}, file))
    const both = await Promise.all([headersOf(given, AT, tokens), headersOf(given, AT, tokens)])
    expect(both.map((headers) => headers.get('authorization'))).toEqual(['Bearer one', 'Bearer one'])
    expect(applyAuth(given, tokens, AT + 3_299_000)).toEqual(['authorization', 'Bearer one'])
    expect((await headersOf(given, AT + 3_300_000, tokens)).get('authorization')).toBe('Bearer two')
    expect(calls).toHaveLength(2)
  })

  test('a token serves only who holds its private key, though all else of the key file is known', async () => {
    const { open } = tokenServer([granted('owner'), granted('stranger')])
    const tokens = new TokenCache(open)
    const otherKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    const copied = JSON.stringify({
      ...(JSON.parse(file) as object),
      private_key: otherKey.export({ type: 'pkcs8', format: 'pem' }),
    })
    const owner = await headersOf(call({ kind: 'google-oauth' }, credential({}, file)), AT, tokens)
    const stranger = await headersOf(call({ kind: 'google-oauth' }, credential({}, copied)), AT, tokens)
    expect([owner.get('authorization'), stranger.get('authorization')]).toEqual([
      'Bearer owner',
      'Bearer stranger',
    ])
  })

  test('a private key far larger than any that Google gives out is no key file: signing with it would take seconds', () => {
    const large = JSON.stringify({ ...(JSON.parse(file) as object), private_key: 'A'.repeat(4_097) })
    expect((): unknown =>
      applyAuth(call({ kind: 'google-oauth' }, credential({}, large)), new TokenCache(noNetwork), AT),
    ).toThrow('the credential holds no service account key file')
  })

  test('a refusal is no token and is asked for again next time', async () => {
    const { open, calls } = tokenServer([
      { status: 400, body: '{"error":"invalid_grant"}' },
      granted('later'),
    ])
    const tokens = new TokenCache(open)
    const given = call({ kind: 'google-oauth' }, credential({}, file))
    await expect(headersOf(given, AT, tokens)).rejects.toThrow('status 400')
    expect((await headersOf(given, AT, tokens)).get('authorization')).toBe('Bearer later')
    expect(calls).toHaveLength(2)
  })

  test('the project is taken from the key file when no field names it', () => {
    expect(
      readPublicFields(credential({ service_account: file, region: 'global' }), ['project', 'region']),
    ).toEqual({
      project: 'my-project',
      region: 'global',
    })
    expect(readPublicFields(credential({ service_account: file, project: 'other' }), ['project'])).toEqual({
      project: 'other',
    })
  })

  test.each([
    ['region', '@127.0.0.1:9090/'],
    ['region', 'us-east-1.evil.example/'],
    ['region', 'evil.example'],
    ['region', 'a\\b'],
    ['region', 'us east'],
    ['region', ''],
    ['resource', '127.0.0.1:8080/x?'],
    ['resource', 'a#b'],
    ['project', '../../..'],
    ['project', 'a/b'],
    ['api_version', 'v1&x=y'],
    ['storage_uri', 'http://127.0.0.1/'],
    ['storage_uri', 'gs://a?b'],
  ])('a %s of %j could lead an address elsewhere and counts as not there', (name, value) => {
    expect(readPublicFields(credential({ [name]: value }), [name])).toEqual({})
  })

  test.each([
    ['region', 'us-east-1'],
    ['region', 'global'],
    ['resource', 'my-resource-2'],
    ['project', 'example.com:my-project'],
    ['api_version', '2025-04-01-preview'],
    ['storage_uri', 'gs://bucket/videos/'],
  ])('a %s of %j stands in an address', (name, value) => {
    expect(readPublicFields(credential({ [name]: value }), [name])).toEqual({ [name]: value })
  })

  test('something else than a key file is refused without showing it', () => {
    const sign = (): unknown =>
      applyAuth(
        call({ kind: 'google-oauth' }, credential({}, '{"private_key":"x"}')),
        new TokenCache(noNetwork),
        AT,
      )
    expect(sign).toThrow('the credential holds no service account key file')
  })
})
