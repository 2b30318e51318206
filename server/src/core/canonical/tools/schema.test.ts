import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../../json.ts'
import { toAnthropicSchema, toJsonSchema, toOpenApiSubset, toToolInputSchema } from './schema.ts'

describe('the schema dialect of structured output at Anthropic', () => {
  test.each<[string, JsonValue, JsonValue]>([
    [
      'closes every object',
      { type: 'object', properties: { a: { type: 'object', properties: {} } }, additionalProperties: true },
      {
        type: 'object',
        properties: { a: { type: 'object', properties: {}, additionalProperties: false } },
        additionalProperties: false,
      },
    ],
    [
      'turns oneOf into anyOf',
      { oneOf: [{ type: 'string' }, { type: 'null' }] },
      { anyOf: [{ type: 'string' }, { type: 'null' }] },
    ],
    [
      'tells numeric and length keywords in words',
      { type: 'integer', minimum: 1, exclusiveMaximum: 9, description: 'a digit' },
      { type: 'integer', description: 'a digit (minimum: 1; exclusiveMaximum: 9)' },
    ],
    ['keeps a known format', { type: 'string', format: 'uuid' }, { type: 'string', format: 'uuid' }],
    [
      'tells an unknown format in words',
      { type: 'string', format: 'phone' },
      { type: 'string', description: '(format: "phone")' },
    ],
    [
      'keeps references and definitions',
      { $ref: '#/$defs/a', $defs: { a: { type: 'string', pattern: '^x' } } },
      { $ref: '#/$defs/a', $defs: { a: { type: 'string', description: '(pattern: "^x")' } } },
    ],
    [
      'drops $schema',
      { $schema: 'http://json-schema.org/draft-07/schema#', type: 'string' },
      { type: 'string' },
    ],
  ])('%s', (_name, schema, expected) => {
    expect(toAnthropicSchema(schema)).toEqual(expected)
  })
})

describe('the OpenAPI subset of Gemini', () => {
  test.each<[string, JsonValue, JsonValue]>([
    [
      'names types in capitals and drops unknown keywords',
      {
        $schema: 'x',
        type: 'object',
        properties: { a: { type: 'string', default: 'b' } },
        required: ['a'],
        additionalProperties: false,
      },
      { type: 'OBJECT', properties: { a: { type: 'STRING' } }, required: ['a'] },
    ],
    ['makes a null alternative nullable', { type: ['string', 'null'] }, { type: 'STRING', nullable: true }],
    [
      'makes a null branch of anyOf nullable',
      { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      { type: 'INTEGER', nullable: true },
    ],
    ['writes const as a one-word enum', { const: 'a' }, { type: 'STRING', enum: ['a'] }],
    [
      'tells an enum of numbers in words',
      { type: 'integer', enum: [1, 2] },
      { type: 'INTEGER', description: '(enum: [1,2])' },
    ],
    ['writes counts as text', { type: 'string', maxLength: 3 }, { type: 'STRING', maxLength: '3' }],
    [
      'inlines references',
      { $defs: { a: { type: 'number' } }, type: 'array', items: { $ref: '#/$defs/a' } },
      { type: 'ARRAY', items: { type: 'NUMBER' } },
    ],
    [
      'cuts a recursion where it comes back',
      { $ref: '#/$defs/n', $defs: { n: { type: 'object', properties: { next: { $ref: '#/$defs/n' } } } } },
      { type: 'OBJECT', properties: { next: { type: 'OBJECT' } } },
    ],
    [
      'merges allOf',
      {
        allOf: [
          { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
          { properties: { b: { type: 'boolean' } } },
        ],
      },
      {
        type: 'OBJECT',
        properties: { a: { type: 'STRING' }, b: { type: 'BOOLEAN' } },
        required: ['a'],
      },
    ],
    ['gives an array items', { type: 'array' }, { type: 'ARRAY', items: { type: 'STRING' } }],
  ])('%s', (_name, schema, expected) => {
    expect(toOpenApiSubset(schema)).toEqual(expected)
  })

  const ALLOWED = new Set(
    (
      'type format title description nullable enum maxItems minItems properties required minProperties ' +
      'maxProperties minLength maxLength pattern anyOf items minimum maximum'
    ).split(' '),
  )

  test('no keyword outside the subset is left, whatever the schema (docs/protocols.md#trap-33)', () => {
    const keyword = fc.constantFrom(
      ...(
        'type properties items anyOf oneOf allOf $ref const enum $schema patternProperties additionalProperties ' +
        'exclusiveMinimum not if prefixItems'
      ).split(' '),
    )
    const schema = fc.letrec((tie) => ({
      node: fc.dictionary(
        keyword,
        fc.oneof(
          { maxDepth: 4 },
          fc.constantFrom<JsonValue>('string', 'object', '#', '#/properties/a', 3, true, null),
          fc.array(tie('node'), { maxLength: 3 }),
          tie('node'),
        ),
      ),
    })).node
    fc.assert(
      fc.property(schema, (value) => {
        expect(unknownKeywords(toOpenApiSubset(JSON.parse(JSON.stringify(value))), ALLOWED)).toEqual([])
      }),
    )
  })
})

test('OpenAPI schemas of Gemini clients become JSON Schema', () => {
  const schema = {
    type: 'OBJECT',
    properties: {
      a: { type: 'STRING', nullable: true, maxLength: '5' },
      list: { type: 'ARRAY', items: { anyOf: [{ type: 'NUMBER' }], nullable: true } },
    },
    propertyOrdering: ['a'],
  }
  expect(toJsonSchema(schema)).toEqual({
    type: 'object',
    properties: {
      a: { type: ['string', 'null'], maxLength: 5 },
      list: { type: 'array', items: { anyOf: [{ type: 'number' }, { type: 'null' }] } },
    },
  })
})

describe('a tool of the messages protocol', () => {
  test('has an object at the top, without $schema and without combinators there', () => {
    expect(toToolInputSchema(undefined)).toEqual({ type: 'object', properties: {} })
    expect(toToolInputSchema({ $schema: 'x', properties: { a: { minimum: 1 } } })).toEqual({
      type: 'object',
      properties: { a: { minimum: 1 } },
    })
    const union = {
      anyOf: [
        { properties: { a: { type: 'string' }, k: {} }, required: ['a', 'k'] },
        { properties: { b: { type: 'number' } }, required: ['k'] },
      ],
    }
    expect(toToolInputSchema(union)).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, k: {}, b: { type: 'number' } },
      required: ['k'],
    })
  })
})

describe('hostile schemas', () => {
  const doubling = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [
      `d${index}`,
      {
        type: 'object',
        properties: { a: { $ref: `#/$defs/d${index + 1}` }, b: { $ref: `#/$defs/d${index + 1}` } },
      },
    ]),
  )
  const deep = (levels: number): JsonValue => {
    let schema: JsonValue = { type: 'string' }
    for (let level = 0; level < levels; level++) schema = { type: 'array', items: schema }
    return schema
  }

  test.each([
    ['references that double at every level', { $ref: '#/$defs/d0', $defs: doubling }],
    ['ten thousand levels', deep(10_000)],
    ['a reference to itself', { $ref: '#' }],
    ['allOf of itself', { allOf: [{ $ref: '#' }] }],
    ['a member named __proto__', JSON.parse('{"properties":{"__proto__":{"type":"string"}}}')],
  ])('%s end, small', (_name, schema) => {
    const sizes = [toOpenApiSubset(schema), toAnthropicSchema(schema), toJsonSchema(schema)].map(
      (converted) => JSON.stringify(converted).length,
    )
    for (const size of sizes) expect(size).toBeLessThan(2_000_000)
  })

  test('a property named __proto__ survives as a property', () => {
    const schema: JsonValue = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}')
    expect(JSON.stringify(toOpenApiSubset(schema))).toContain('"__proto__":{"type":"STRING"}')
  })
})

function unknownKeywords(schema: JsonValue | undefined, allowed: ReadonlySet<string>): readonly string[] {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return []
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (!allowed.has(keyword)) return [keyword]
    if (keyword === 'properties') {
      return Object.values(value ?? {}).flatMap((child) => unknownKeywords(child, allowed))
    }
    if (keyword === 'items') return unknownKeywords(value, allowed)
    return keyword === 'anyOf' && Array.isArray(value)
      ? value.flatMap((child) => unknownKeywords(child, allowed))
      : []
  })
}
