import { expect, test } from 'vitest'
import * as z from 'zod'
import { isJsonObject, type JsonValue } from '../../../core/json.ts'
import { buildDocument } from './document.ts'
import type { RegisteredRoute } from '../route-types.ts'

const ROUTE: RegisteredRoute = {
  method: 'POST',
  path: '/api/v1/user/user/anything',
  access: 'anonymous',
  tag: 'Keys',
  summary: 'Take any JSON',
  params: z.object({}),
  query: z.object({}),
  body: z.strictObject({ value: z.json(), at: z.iso.datetime() }),
  answer: { kind: 'data', schema: z.array(z.json()) },
  caching: 'none',
}

function referencesIn(value: JsonValue | undefined): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((member: JsonValue) => referencesIn(member))
  if (!isJsonObject(value)) return []
  const { $ref } = value
  return [...(typeof $ref === 'string' ? [$ref] : []), ...Object.values(value).flatMap(referencesIn)]
}

test('every reference of the document leads somewhere in it, whatever the schemas refer to', () => {
  const document = buildDocument([ROUTE], { version: '1', serverUrl: undefined })
  const references = referencesIn(document)
  expect(references.length).toBeGreaterThan(0)
  for (const reference of new Set(references)) {
    const [, ...steps] = reference.split('/')
    const found = steps.reduce<JsonValue | undefined>(
      (place, step) => (isJsonObject(place) ? place[step] : undefined),
      document,
    )
    expect(found, reference).toBeDefined()
  }
})
