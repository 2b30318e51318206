/** A credential's secret and fields as one sealed text. */
import type { CredentialSecret } from '../../../core/catalogue.ts'
import { Secret } from '../../../core/secret.ts'
import type { SecretBox } from '../../secret-box.ts'
import { parseStored } from '../stored-json.ts'

interface Plain {
  readonly secret?: string
  readonly fields: Readonly<Record<string, string>>
}

export function sealCredential(secrets: SecretBox, credential: CredentialSecret, purpose: string): string {
  const plain: Plain = {
    ...(credential.secret !== undefined && { secret: credential.secret.unwrap() }),
    fields: mapValues(credential.fields, (field) => field.unwrap()),
  }
  return secrets.seal(JSON.stringify(plain), purpose)
}

export function openCredential(secrets: SecretBox, sealed: string, purpose: string): CredentialSecret {
  const plain = parseStored<Plain>(secrets.open(sealed, purpose))
  return {
    secret: plain.secret === undefined ? undefined : new Secret(plain.secret),
    fields: mapValues(plain.fields, (field) => new Secret(field)),
  }
}

function mapValues<From, To>(
  record: Readonly<Record<string, From>>,
  change: (value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}
