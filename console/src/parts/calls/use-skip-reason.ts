import { useTranslation } from 'react-i18next'

const REASONS = [
  'disabled',
  'vendor-disabled',
  'unfunded',
  'protocol',
  'other-vendor',
  'kept-elsewhere',
  'credential-full',
  'cooling-down',
  'probing',
  'rate-limited',
  'full',
] as const

/** Why a chain was passed over, in words; a reason that is not known here is told as it is. */
export function useSkipReason(): (reason: string) => string {
  const { t } = useTranslation()
  return (reason) => {
    const known = REASONS.find((each) => each === reason)
    return known === undefined ? reason : t(`explain.reasons.${known}`)
  }
}
