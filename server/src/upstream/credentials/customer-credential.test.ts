import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import type { CredentialSecret } from '../../core/catalogue.ts'
import { Secret } from '../../core/secret.ts'
import { asCustomers } from './customer-credential.ts'
import { parseServiceAccount } from './service-account.ts'

const GOOGLE = 'https://oauth2.googleapis.com/token'
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const file = JSON.stringify({
  type: 'service_account',
  client_email: 'me@my-project.iam.gserviceaccount.com',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  token_uri: 'http://169.254.169.254/latest/api/token',
})

test.each([
  ['as the secret', { secret: new Secret(file), fields: {} }],
  ['in a field', { secret: undefined, fields: { service_account: new Secret(file) } }],
] satisfies [string, CredentialSecret][])(
  'a customer’s key file %s gets its tokens from Google alone',
  (_where, given) => {
    const { secret, fields } = asCustomers(given)
    const text = (fields['service_account'] ?? secret)?.unwrap() ?? ''
    expect(text).not.toContain('169.254')
    expect(parseServiceAccount(text)).toMatchObject({
      tokenUri: GOOGLE,
      clientEmail: 'me@my-project.iam.gserviceaccount.com',
    })
  },
)

test('any other credential stays as it is', () => {
  const given = { secret: new Secret('sk-mine'), fields: { region: new Secret('us-east-1') } }
  expect(asCustomers(given)).toEqual(given)
  expect(asCustomers(given).secret).toBe(given.secret)
})
