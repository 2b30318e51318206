import { useTranslation } from 'react-i18next'
import type { VendorKind } from '../../api/operator/catalogue.ts'
import { insteadOfSecret } from './credential-words.ts'
import { missingOf, type SecretValues } from './secret-values.ts'

/** What a new credential has to be told, as errors of a form by the place of their fields. */
export function useSecretRules(): (
  values: SecretValues,
  kind: VendorKind,
) => Readonly<Record<string, string>> {
  const { t } = useTranslation()
  return (values, kind) => {
    const choices = insteadOfSecret(kind)
    return Object.fromEntries(
      missingOf(values, kind, choices).map((place) => [
        place,
        place === 'secret' && choices.length > 0 ? t('vendors.eitherWanted') : t('vendors.fieldWanted'),
      ]),
    )
  }
}
