/**
 * A customer's own credential as calls may use it. Google's key file names the address where tokens are fetched: the
 * operator may use any address, but a customer could use it to reach the gateway's internal network.
 */
import type { CredentialSecret } from '../../core/catalogue.ts'
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import { Secret } from '../../core/secret.ts'
import { parseServiceAccount } from './service-account.ts'

export function asCustomers({ secret, fields }: CredentialSecret): CredentialSecret {
  const keyFile = fields['service_account']
  return {
    secret: secret && withoutTokenPlace(secret),
    fields: keyFile === undefined ? fields : { ...fields, service_account: withoutTokenPlace(keyFile) },
  }
}

function withoutTokenPlace(secret: Secret): Secret {
  const text = secret.unwrap()
  if (parseServiceAccount(text) === undefined) return secret
  const file = JSON.parse(text) as JsonValue
  return isJsonObject(file) ? new Secret(JSON.stringify({ ...file, token_uri: undefined })) : secret
}
