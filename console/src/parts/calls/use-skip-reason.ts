import { useTranslation } from '../../texts/use-translation.ts'

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

/** The text of the reason why a chain was skipped; an unknown reason is shown as it is. */
export function useSkipReason(): (reason: string) => string {
  const { t } = useTranslation()
  return (reason) => {
    const known = REASONS.find((each) => each === reason)
    return known === undefined ? reason : t(`explain.reasons.${known}`)
  }
}
