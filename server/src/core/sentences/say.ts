/**
 * The message of an error, as a rule with its values: to show it in another language, translate the rule and insert
 * the values. The text is the English sentence, for logs, terminals and programs.
 */
import { SENTENCES } from './sentences.ts'

export type Rule = keyof typeof SENTENCES

type NamesIn<Template extends string> = Template extends `${string}{{${infer Name}}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never

export type SentenceValue = string | number | Sentence

type ValuesOf<Of extends Rule> = Readonly<Record<NamesIn<(typeof SENTENCES)[Of]>, SentenceValue>>

export interface Sentence {
  readonly rule: Rule
  /** By the names in the rule’s template; a value may be a sentence itself. */
  readonly values: Readonly<Record<string, SentenceValue>>
  readonly text: string
}

/** @param values what the template of the rule names; none where it names nothing */
export function say<Of extends Rule>(
  rule: Of,
  ...[values]: [NamesIn<(typeof SENTENCES)[Of]>] extends [never] ? [] : [values: ValuesOf<Of>]
): Sentence {
  const given: Readonly<Record<string, SentenceValue>> = values ?? {}
  const template: string = SENTENCES[rule]
  const text = template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => textOfValue(given[name] ?? ''))
  return { rule, values: given, text }
}

function textOfValue(value: SentenceValue): string {
  return typeof value === 'object' ? value.text : String(value)
}

/** Its form in an answer: the rule, and its values if it has any. */
export function sentenceForm({ rule, values }: Sentence): {
  readonly rule: Rule
  readonly values?: Readonly<Record<string, ValueForm>>
} {
  const entries = Object.entries(values)
  if (entries.length === 0) return { rule }
  return { rule, values: Object.fromEntries(entries.map(([name, value]) => [name, valueForm(value)])) }
}

export type ValueForm =
  | string
  | number
  | { readonly rule: Rule; readonly values?: Readonly<Record<string, ValueForm>> }

function valueForm(value: SentenceValue): ValueForm {
  return typeof value === 'object' ? sentenceForm(value) : value
}

/** Whether a value passed through a library is one of our sentences. */
export function isSentence(value: unknown): value is Sentence {
  return (
    typeof value === 'object' &&
    value !== null &&
    'rule' in value &&
    typeof value.rule === 'string' &&
    Object.hasOwn(SENTENCES, value.rule) &&
    'text' in value &&
    typeof value.text === 'string'
  )
}

/** A sentence about two rows of a file, without the line of the other row: requests have no lines. */
export function withoutLine(sentence: Sentence): Sentence {
  const { rule, values } = sentence
  const told = values['sentence']
  return rule === 'first-in-line' && isSentence(told) ? told : sentence
}

const RULE_OF_TEXT: ReadonlyMap<string, Sentence> = new Map(
  Object.entries(SENTENCES)
    .filter(([, template]) => !template.includes('{{'))
    .map(([rule, text]) => [text, { rule: rule as Rule, values: {}, text }]),
)

/** A sentence without values by its text, where a library keeps only the text; undefined: it is not one of our sentences. */
export function sentenceOfText(text: string): Sentence | undefined {
  return RULE_OF_TEXT.get(text)
}
