/** What a kind asks of its credentials, in words. */
import { useTranslation } from 'react-i18next'
import type { VendorKind } from '../../api/operator/catalogue.ts'

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

/** Several fields that may be given in place of the secret; empty: there is no such choice. */
export function insteadOfSecret({ secret, fields }: VendorKind): readonly string[] {
  return secret.need === 'optional'
    ? fields.filter((field) => field.secret && field.optional).map(({ name }) => name)
    : []
}

/** The name of a field as people know it; one that has no text is shown as the gateway calls it. */
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
