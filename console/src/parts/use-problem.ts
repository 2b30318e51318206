import type { UseFormReturnType } from '@mantine/form'
import { useTranslation } from 'react-i18next'
import { ApiError } from '../api/api-error.ts'

/** Codes that a person can do something about; whatever else goes wrong is told in the gateway's own words. */
const TOLD = [0, 40005, 40104, 40303, 40304, 40306, 40307, 40308, 40403, 42908, 50000, 50301] as const

/** What a person reads of an error: the sentence of the gateway's code in their language, else the gateway's own. */
export function useProblemText(): (error: unknown) => string {
  const { t } = useTranslation()
  return (error) => {
    if (!(error instanceof ApiError)) return t('problems.unexpected')
    if (error.code === 42908 && error.retryAfterSeconds !== undefined) {
      return t('problems.tooMany', { seconds: error.retryAfterSeconds })
    }
    const told = TOLD.find((code) => code === error.code)
    return told === undefined ? error.message : t(`problems.${told}`)
  }
}

/**
 * Puts the faults of a refused form beside their fields. Returns what concerns no field; undefined: everything has its place.
 */
export function useFieldProblems(): <Values extends Record<string, unknown>>(
  form: UseFormReturnType<Values>,
  error: unknown,
) => string | undefined {
  const problemText = useProblemText()
  return (form, error) => {
    if (!(error instanceof ApiError) || error.faults.length === 0) return problemText(error)
    const known = error.faults.filter(({ path }) => path in form.getValues())
    for (const { path, message } of known) form.setFieldError(path, message)
    const others = error.faults.filter((fault) => !known.includes(fault))
    return others.length === 0
      ? undefined
      : others.map(({ path, message }) => (path === '' ? message : `${path} ${message}`)).join('; ')
  }
}
