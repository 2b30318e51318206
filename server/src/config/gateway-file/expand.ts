/** `${NAME}` and `${NAME:-default}` in the values of a gateway file; `$${` writes a plain `${`. */
import { say, type Sentence } from '../../core/sentences/say.ts'
import type { Environment } from '../environment.ts'

export type Expansion =
  | { readonly kind: 'text'; readonly text: string; readonly expanded: boolean }
  | { readonly kind: 'mistakes'; readonly messages: readonly Sentence[] }

const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g
const REFERENCE_BODY = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([\s\S]*))?$/

/** An unset variable without a default is a mistake; an empty one is empty text, or its default. */
export function expandVariables(text: string, environment: Environment): Expansion {
  const messages: Sentence[] = []
  let expanded = false
  const result = text.replace(
    REFERENCE,
    (whole: string, body: string | undefined, end: string | undefined) => {
      if (body === undefined) return '${'
      expanded = true
      const value = end === '}' ? valueOf(body, environment) : undefined
      if (value === undefined) {
        messages.push(say('not-a-reference', { whole }))
        return ''
      }
      if (value.kind === 'unset') {
        messages.push(say('variable-not-set', { name: value.name, written: `\${${value.name}:-default}` }))
        return ''
      }
      return value.text
    },
  )
  return messages.length > 0 ? { kind: 'mistakes', messages } : { kind: 'text', text: result, expanded }
}

type Value =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unset'; readonly name: string }

function valueOf(body: string, environment: Environment): Value | undefined {
  const [, name, fallback] = REFERENCE_BODY.exec(body) ?? []
  if (name === undefined) return undefined
  const set = environment[name]
  if (set !== undefined && (set !== '' || fallback === undefined)) return { kind: 'text', text: set }
  return fallback === undefined ? { kind: 'unset', name } : { kind: 'text', text: fallback }
}
