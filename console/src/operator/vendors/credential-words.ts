/** Names of the credential fields of a kind. */
import type { VendorKind } from '../../api/operator/catalogue.ts'
import { useTranslation } from '../../texts/use-translation.ts'

const NAMED = [
  'access_key',
  'secret_key',
  'session_token',
  'region',
  'project',
  'storage_uri',
  'resource',
  'api_version',
] as const
const HINTED = ['session_token', 'region', 'project', 'storage_uri', 'resource', 'api_version'] as const

/** Fields that may be entered instead of the secret; empty: there is no alternative. */
export function insteadOfSecret({ secret, fields }: VendorKind): readonly string[] {
  return secret.need === 'optional'
    ? fields.filter((field) => field.secret && field.optional).map(({ name }) => name)
    : []
}

/** The name of a field; one without a text is shown under the gateway's name. */
export function useFieldName(): (name: string) => string {
  const { t } = useTranslation()
  return (name) => {
    const known = NAMED.find((each) => each === name)
    return known === undefined ? name : t(`vendors.fields.${known}`)
  }
}

export function useFieldHint(): (name: string) => string | undefined {
  const { t } = useTranslation()
  return (name) => {
    const known = HINTED.find((each) => each === name)
    return known === undefined ? undefined : t(`vendors.fieldHints.${known}`)
  }
}
