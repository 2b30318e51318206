import type { VendorKind } from '../../api/operator/catalogue.ts'
import { insteadOfSecret } from './credential-words.ts'
import { missingOf, type SecretValues } from './secret-values.ts'
import { useTranslation } from '../../texts/use-translation.ts'

/** Validation of a new credential, as form errors by field path. */
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
