/** Validates a request's parts against their schemas: returns the value, or all paths at fault. */
import type { z } from 'zod'
import { isSentence, say, type Sentence, sentenceForm, sentenceOfText } from '../../../core/sentences/say.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'

export type RequestPart = 'path' | 'query' | 'body' | 'header'

/** One thing wrong with a request. */
export interface FieldFault {
  readonly in: RequestPart
  /** `limits.windows[0].seconds`; empty: the whole part. */
  readonly path: string
  /** A sentence that continues after the path: `must be …`, `is missing`. */
  readonly message: Sentence
}

export type FieldResult<Value> =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'faults'; readonly faults: readonly FieldFault[] }

/** Enough to correct a form; limits the answer to a body full of mistakes. */
const FAULTS_MAX = 100

export function readPart<Schema extends z.ZodType>(
  part: RequestPart,
  schema: Schema,
  value: unknown,
): FieldResult<z.output<Schema>> {
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return { kind: 'value', value: result.data }
  return { kind: 'faults', faults: result.error.issues.flatMap((issue) => faultsOf(part, issue)) }
}

/** 400/40000 with every path in the message for people and in `error.details.fields` for programs. */
export function refuseFields(faults: readonly FieldFault[], status?: number): GatewayError {
  const told = faults.slice(0, FAULTS_MAX)
  const more = faults.length - told.length
  const sentences = told.map(
    ({ in: part, path, message }) => `${path === '' ? `the ${nameOf(part)}` : path} ${message.text}`,
  )
  return new GatewayError(40000, {
    message: [...sentences, ...(more > 0 ? [`and ${more} more`] : [])].join('; '),
    details: {
      fields: told.map(({ in: part, path, message }) => ({
        in: part,
        path,
        message: message.text,
        ...sentenceForm(message),
      })),
    },
    ...(status === undefined ? {} : { status }),
  })
}

function nameOf(part: RequestPart): string {
  return part === 'query' ? 'query string' : part
}

function faultsOf(part: RequestPart, fault: z.core.$ZodIssue): readonly FieldFault[] {
  if (fault.code === 'unrecognized_keys') {
    return fault.keys.map((key) => ({
      in: part,
      path: printPath([...fault.path, key]),
      message: say('unknown-field'),
    }))
  }
  return [{ in: part, path: printPath(fault.path), message: sentenceOf(fault) }]
}

function printPath(path: readonly PropertyKey[]): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else text += text === '' ? String(step) : `.${String(step)}`
  }
  return text
}

/** The gateway's own message where zod's would mention inputs and types; undefined keeps zod's. */
export function sentenceOf(fault: z.core.$ZodIssue): Sentence {
  if (fault.input === undefined && (fault.code === 'invalid_type' || fault.code === 'invalid_value'))
    return say('missing')
  switch (fault.code) {
    case 'invalid_type':
      return typeSentence(fault.expected)
    case 'invalid_value': {
      const words = fault.values.map(String).join(', ')
      return fault.values.length === 1
        ? say('must-be-exactly', { value: words })
        : say('must-be-one-of', { words })
    }
    case 'too_small':
      return least(fault.origin, Number(fault.minimum), fault.inclusive ?? true)
    case 'too_big':
      return most(fault.origin, Number(fault.maximum), fault.inclusive ?? true)
    case 'invalid_format':
      return fault.format === 'regex'
        ? (sentenceOfText(fault.message) ?? say('wrong-form'))
        : say('must-be-valid', { format: fault.format })
    case 'invalid_union':
      return say('no-allowed-form')
    case 'custom':
      return isSentence(fault.params?.['sentence'])
        ? fault.params['sentence']
        : say('as-said', { said: fault.message })
    case 'unrecognized_keys':
    case 'not_multiple_of':
    case 'invalid_key':
    case 'invalid_element':
      return say('wrong-form')
  }
}

function typeSentence(expected: string): Sentence {
  switch (expected) {
    case 'string':
      return say('must-be-text')
    case 'number':
      return say('must-be-a-number')
    case 'int':
      return say('must-be-whole')
    case 'boolean':
      return say('must-be-true-or-false')
    case 'object':
    case 'record':
      return say('must-be-an-object')
    case 'array':
      return say('must-be-a-list')
    default:
      return say('must-be-of-type', { type: expected })
  }
}

function least(origin: string, limit: number, inclusive: boolean): Sentence {
  const isAny = limit === 1 && inclusive
  if (isAny && (origin === 'string' || origin === 'array')) return say('must-not-be-empty')
  if (origin === 'string') return say('at-least-characters', { least: limit })
  if (origin === 'array' || origin === 'set') return say('at-least-elements', { least: limit })
  return inclusive ? say('at-least', { least: limit }) : say('above', { bound: limit })
}

function most(origin: string, limit: number, inclusive: boolean): Sentence {
  if (origin === 'string') return say('at-most-characters', { most: limit })
  if (origin === 'array' || origin === 'set') return say('at-most-elements', { most: limit })
  return inclusive ? say('at-most', { most: limit }) : say('below', { bound: limit })
}

/** For a check of a schema's own: what it says where it fails. */
export function issue(sentence: Sentence): {
  readonly message: string
  readonly params: { readonly sentence: Sentence }
} {
  return { message: sentence.text, params: { sentence } }
}
