import { describe, expect, test } from 'vitest'
import type { CredentialSecret } from '../../core/catalogue.ts'
import { Secret } from '../../core/secret.ts'
import { maskText, openSecretMask } from './auth.ts'

const KEY = 'sk-UPSTREAM/SECRET"key'
const STARS = '*'.repeat(KEY.length)
const plain: CredentialSecret = { secret: new Secret(KEY), fields: {} }

function maskOf(credential = plain, headers: readonly string[] = ['authorization', `Bearer ${KEY}`]) {
  const mask = openSecretMask(credential, headers)
  if (mask === undefined) throw new Error('there is nothing to mask')
  return mask
}

function pass(chunks: readonly string[], { mask = maskOf(), status = 200 } = {}): string {
  mask.head({ status, headers: {} })
  const out = chunks.flatMap((chunk) => mask.push(Buffer.from(chunk)) ?? [])
  const rest = mask.end()
  return Buffer.concat(rest === undefined ? out : [...out, rest]).toString()
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1)

describe('an upstream that echoes the credential it was called with', () => {
  test.each<readonly [how: string, status: number, body: string]>([
    ['as it is', 200, `Authorization: Bearer ${KEY}`],
    ['inside JSON', 200, `{"error":"Bearer ${inJson(KEY)}"}`],
    ['inside JSON with escaped slashes', 200, `{"error":"${inJson(KEY).replaceAll('/', '\\/')}"}`],
    ['inside an address', 200, `https://vendor/?key=${encodeURIComponent(KEY)}`],
    ['in base64, as the second half of a pair', 401, Buffer.from(`u:${KEY}`).toString('base64')],
    ['in base64 of an address', 500, Buffer.from(`ab${KEY}!`).toString('base64url')],
    ['in base64 alone', 400, Buffer.from(KEY).toString('base64')],
    ['twice, one after the other', 200, `${KEY}${KEY}`],
  ])('%s tells nobody', (_how, status, body) => {
    const masked = pass([body], { status })
    expect(masked).toHaveLength(body.length)
    expect(masked).toContain('********')
    for (const form of [KEY, inJson(KEY), encodeURIComponent(KEY)]) expect(masked).not.toContain(form)
    expect(Buffer.from(masked, 'base64').toString()).not.toContain('UPSTREAM')
  })

  test('is masked in chunks of any size, and every other byte is unchanged', () => {
    const body = `data: {"a":"sk-UPSTREAM"}\n\n${KEY} sk-UP${KEY}s ${inJson(KEY)}`
    const expected = `data: {"a":"sk-UPSTREAM"}\n\n${STARS} sk-UP${STARS}s ${'*'.repeat(inJson(KEY).length)}`
    for (let size = 1; size <= body.length; size += 1) {
      const chunks = Array.from({ length: Math.ceil(body.length / size) }, (_, index) =>
        body.slice(index * size, (index + 1) * size),
      )
      expect(pass(chunks)).toBe(expected)
    }
  })

  test('is masked in a header', () => {
    const { headers } = maskOf().head({
      status: 200,
      headers: { 'www-authenticate': `Bearer ${KEY}`, 'set-cookie': ['a=1', `key=${KEY}`] },
    })
    expect(headers).toEqual({ 'www-authenticate': `Bearer ${STARS}`, 'set-cookie': ['a=1', `key=${STARS}`] })
  })
})

test('bytes without a secret are the same object, so that nothing is copied', () => {
  const chunk = Buffer.from('data: {"content":"Hello"}\n\n')
  expect(maskOf().push(chunk)).toBe(chunk)
})

test('what looks like the beginning of a secret at the very end comes through', () => {
  expect(pass(['answer sk-UPST'])).toBe('answer sk-UPST')
})

test('a token made of a service account and the account’s private key are masked, its project is not', () => {
  const key = '-----BEGIN PRIVATE KEY-----\nMIIE1234\n-----END PRIVATE KEY-----\n'
  const account = new Secret(
    JSON.stringify({ client_email: 'a@b', private_key: key, project_id: 'project-1' }),
  )
  const credential = {
    secret: undefined,
    fields: { service_account: account, project: new Secret('project-1') },
  }
  const mask = () => maskOf(credential, ['authorization', 'Bearer ya29.token-of-an-hour'])
  expect(pass(['Bearer ya29.token-of-an-hour of project-1'], { mask: mask() })).toBe(
    `Bearer ${'*'.repeat(21)} of project-1`,
  )
  expect(pass([JSON.stringify({ key })], { mask: mask() })).not.toContain('MIIE1234')
})

test('signatures and keys of signing schemes are masked, dates are not', () => {
  const fields = {
    access_key: new Secret('AKIDEXAMPLE'),
    secret_key: new Secret('wJalrXUtnFEMI'),
    region: new Secret('eu-central-1'),
  }
  const signature = 'AWS4-HMAC-SHA256 Credential=OTHER, Signature=0123'
  const mask = maskOf({ secret: undefined, fields }, [
    'x-amz-date',
    '20261122T000000Z',
    'authorization',
    signature,
  ])
  expect(pass([`AKIDEXAMPLE wJalrXUtnFEMI eu-central-1 20261122T000000Z ${signature}`], { mask })).toBe(
    `${'*'.repeat(11)} ${'*'.repeat(13)} eu-central-1 20261122T000000Z ${'*'.repeat(signature.length)}`,
  )
})

test('without a credential there is nothing to look for', () => {
  expect(openSecretMask({ secret: undefined, fields: {} }, [])).toBeUndefined()
})

test('words of errors are masked too', () => {
  expect(maskText(`bad header Bearer ${KEY}`, plain)).toBe(`bad header Bearer ${STARS}`)
})
