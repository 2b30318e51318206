/** Validates a request's parts against their schemas: returns the value, or all paths at fault. */
import type { z } from 'zod'
import { GatewayError } from '../../../core/errors/gateway-error.ts'

export type RequestPart = 'path' | 'query' | 'body' | 'header'

/** One thing wrong with a request. */
export interface FieldFault {
  readonly in: RequestPart
  /** `limits.windows[0].seconds`; empty: the whole part. */
  readonly path: string
  /** A sentence that continues after the path: `must be …`, `is missing`. */
  readonly message: string
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
  const result = schema.safeParse(value, { error: sentenceOf })
  if (result.success) return { kind: 'value', value: result.data }
  return { kind: 'faults', faults: result.error.issues.flatMap((issue) => faultsOf(part, issue)) }
}

/** 400/40000 with every path in the message for people and in `error.details.fields` for programs. */
export function refuseFields(faults: readonly FieldFault[], status?: number): GatewayError {
  const told = faults.slice(0, FAULTS_MAX)
  const more = faults.length - told.length
  const sentences = told.map(
    ({ in: part, path, message }) => `${path === '' ? `the ${nameOf(part)}` : path} ${message}`,
  )
  return new GatewayError(40000, {
    message: [...sentences, ...(more > 0 ? [`and ${more} more`] : [])].join('; '),
    details: { fields: told.map((fault) => ({ ...fault })) },
    ...(status === undefined ? {} : { status }),
  })
}

function nameOf(part: RequestPart): string {
  return part === 'query' ? 'query string' : part
}

function faultsOf(part: RequestPart, issue: z.core.$ZodIssue): readonly FieldFault[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      in: part,
      path: printPath([...issue.path, key]),
      message: 'is an unknown field',
    }))
  }
  return [{ in: part, path: printPath(issue.path), message: issue.message }]
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
function sentenceOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value'))
    return 'is missing'
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${KINDS[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`
    case 'too_small':
      return `must ${bound(issue.origin, 'at least', Number(issue.minimum), issue.inclusive ?? true)}`
    case 'too_big':
      return `must ${bound(issue.origin, 'at most', Number(issue.maximum), issue.inclusive ?? true)}`
    case 'invalid_format':
      return issue.format === 'regex' ? 'has the wrong form' : `must be a valid ${issue.format}`
    case 'invalid_union':
      return 'matches none of the allowed forms'
    case 'unrecognized_keys':
    case 'not_multiple_of':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return undefined
  }
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  record: 'an object',
}

function bound(origin: string, side: 'at least' | 'at most', limit: number, inclusive: boolean): string {
  if (origin === 'string') return `have ${side} ${limit} characters`
  if (origin === 'array' || origin === 'set') return `have ${side} ${limit} elements`
  if (inclusive) return `be ${side} ${limit}`
  return side === 'at least' ? `be above ${limit}` : `be below ${limit}`
}
