/** Values that a JSON schema of the OpenAPI document allows, as far as our own schemas go. */
import fc from 'fast-check'
import type { JsonSchema } from './operations.ts'

/** `known`: texts that mean something to the gateway, put in where any text may stand. */
export function arbitraryOf(schema: JsonSchema, known: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  if (typeof schema === 'boolean') return fc.jsonValue({ maxDepth: 2 })
  if ('const' in schema) return fc.constant(schema['const'])
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]))
  const choices = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(choices)) {
    return fc.oneof(...(choices as JsonSchema[]).map((choice) => arbitraryOf(choice, known)))
  }
  const { type } = schema
  if (Array.isArray(type)) {
    return fc.oneof(...(type as string[]).map((one) => arbitraryOf({ ...schema, type: one }, known)))
  }
  switch (type) {
    case 'string':
      return texts(schema, known)
    case 'integer':
      return fc.integer(boundsOf(schema))
    case 'number':
      return fc.oneof(
        fc.integer({ min: -10, max: 1_000 }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
      )
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(arbitraryOf((schema['items'] as JsonSchema | undefined) ?? true, known), {
        maxLength: 3,
      })
    case 'object':
      return objects(schema, known)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

const TEXTS = [
  '2026-01-31T12:00:00Z',
  '1790000000000',
  '0.5',
  '-1',
  'Asia/Shanghai',
  'CNY',
  '10.0.0.0/8',
  'someone@example.com',
  '+8613800138000',
  'https://example.com/v1',
  '${HOME}',
  '../..',
  "'; drop table accounts",
]

function texts(schema: Readonly<Record<string, unknown>>, known: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const minLength = Number(schema['minLength'] ?? 0)
  const maxLength = Math.min(Number(schema['maxLength'] ?? 30), 30)
  return fc.oneof(
    known,
    fc.constantFrom(...TEXTS),
    fc.string({ minLength, maxLength: Math.max(minLength, maxLength), unit: 'binary' }),
  )
}

function boundsOf(schema: Readonly<Record<string, unknown>>): { min: number; max: number } {
  const min = Math.max(Number(schema['minimum'] ?? -1_000), -2_147_483_648)
  return { min, max: Math.max(min, Math.min(Number(schema['maximum'] ?? 1_000_000), 2_147_483_647)) }
}

function objects(
  schema: Readonly<Record<string, unknown>>,
  known: fc.Arbitrary<string>,
): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties: more } = schema
  const members = Object.entries(properties as Readonly<Record<string, JsonSchema>>)
  if (members.length === 0 && typeof more === 'object' && more !== null) {
    return fc.dictionary(fc.string({ maxLength: 10 }), arbitraryOf(more as JsonSchema, known), { maxKeys: 3 })
  }
  const needed = required as string[]
  // Made once, not for each value: making one takes longer than drawing from it.
  const arbitraries = members.map(([name, member]) => [name, arbitraryOf(member, known)] as const)
  return fewOf(members.filter(([name]) => !needed.includes(name))).chain((some) =>
    fc.record(
      Object.fromEntries(arbitraries.filter(([name]) => needed.includes(name) || some.includes(name))),
    ),
  )
}

/** One wild member spoils a request: with few of them, some requests get through to the work itself. */
export function fewOf(members: readonly (readonly [string, unknown])[]): fc.Arbitrary<readonly string[]> {
  return fc.subarray(
    members.map(([name]) => name),
    { maxLength: Math.min(2, members.length) },
  )
}
