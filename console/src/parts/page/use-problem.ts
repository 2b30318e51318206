import type { UseFormReturnType } from '@mantine/form'
import i18next from 'i18next'
import { ApiError, type FieldFault, type Said } from '../../api/api-error.ts'
import type { SectionTexts } from '../../texts/sections.ts'
import { useTranslation } from '../../texts/use-translation.ts'

/** Codes with a text of their own, which says what to do; for others the gateway's message is shown. */
const TOLD = [
  0, 40005, 40104, 40202, 40203, 40303, 40304, 40307, 40308, 40309, 40403, 42901, 42902, 42903, 42904, 42905,
  42906, 42908, 42910, 50000, 50201, 50301, 50401,
] as const

/** The text of a code; undefined: there is only the gateway's message. */
export function useCodeText(): (code: number) => string | undefined {
  const { t } = useTranslation()
  return (code) => {
    const told = TOLD.find((each) => each === code)
    return told === undefined ? undefined : t(`problems.${told}`)
  }
}

/** The sentence of a rule in the person's language; `message` if it has none. */
export function useSentence(): (of: { readonly said: Said | undefined; readonly message: string }) => string {
  const { t } = useTranslation()
  const isKnown = (rule: string): rule is keyof SectionTexts['rules'] => i18next.exists(`rules.${rule}`)
  const tell = ({ rule, values }: Said): string | undefined => {
    if (!isKnown(rule)) return undefined
    const words: Record<string, string | number> = {}
    for (const [name, value] of Object.entries(values))
      words[name] = typeof value === 'object' ? (tell(value) ?? value.rule) : value
    const told: unknown = t(`rules.${rule}`, words)
    return typeof told === 'string' ? told : undefined
  }
  return ({ said, message }) => (said === undefined ? undefined : tell(said)) ?? message
}

/**
 * The text of an error: that of its code in the person's language, else that of its rule, else the gateway's message.
 */
export function useProblemText(): (error: unknown) => string {
  const { t } = useTranslation()
  const codeText = useCodeText()
  const sentence = useSentence()
  return (error) => {
    if (!(error instanceof ApiError)) return t('problems.unexpected')
    if (error.code === 42908 && error.retryAfterSeconds !== undefined) {
      return t('problems.tooMany', { seconds: error.retryAfterSeconds })
    }
    return codeText(error.code) ?? sentence(error)
  }
}

/** Fields for errors that name none, by code; with a text if the common one does not suit the form. */
export type FieldsOfCodes = Readonly<
  Record<number, string | { readonly field: string; readonly text: string }>
>

/**
 * Shows the errors of a rejected form beside their fields. Returns those that belong to no field; undefined: there are
 * none.
 */
export function useFieldProblems(): <Values extends Record<string, unknown>>(
  form: UseFormReturnType<Values>,
  error: unknown,
  places?: { readonly fields?: FieldsOfCodes; readonly placeOf?: (path: string) => string },
) => string | undefined {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const sentence = useSentence()
  return (form, error, { fields = {}, placeOf = asNamed } = {}) => {
    if (!(error instanceof ApiError)) return problemText(error)
    const known = fields[error.code]
    if (known !== undefined) {
      const { field, text } = typeof known === 'string' ? { field: known, text: problemText(error) } : known
      form.setFieldError(field, text)
      return undefined
    }
    if (error.faults.length === 0) return problemText(error)
    const others: string[] = []
    const beside = new Map<string, string[]>()
    for (const fault of error.faults) {
      const { path, place: inside } = inFile(fault)
      const told = sentence(fault)
      const message = inside === '' ? told : t('problems.at', { place: inside, said: told })
      const place = fieldOf(form.getValues(), placeOf(path))
      if (place === undefined)
        others.push(path === '' ? message : t('problems.at', { place: path, said: message }))
      else beside.set(place, [...(beside.get(place) ?? []), message])
    }
    for (const [place, messages] of beside) form.setFieldError(place, messages.join('\n'))
    return others.length === 0 ? undefined : others.join('; ')
  }
}

function asNamed(path: string): string {
  return path
}

/** A fault within a file, `file:3:12 models[0].name`, belongs to the field that holds the file; its position is part of the text. */
function inFile({ path }: FieldFault): { readonly path: string; readonly place: string } {
  const [, field = path, place = ''] = /^(\w+):(\d+:\d+.*)$/.exec(path) ?? []
  return { path: field, place }
}

/** The field that contains the path of an error: for an element of a list of texts, the field of the list. */
function fieldOf(values: Readonly<Record<string, unknown>>, path: string): string | undefined {
  let place: unknown = values
  const names: string[] = []
  for (const name of path.split('.')) {
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, name)) return undefined
    const next: unknown = Object.entries(place).find(([each]) => each === name)?.[1]
    if (Array.isArray(place) && (typeof next !== 'object' || next === null)) break
    names.push(name)
    place = next
  }
  return names.length === 0 ? undefined : names.join('.')
}
