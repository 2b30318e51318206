/** The written document, which `npm run check` holds to the routes, leads nowhere that is not there: strict parsers stop at that. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseJson } from '../../../core/canonical/json-text.ts'
import { isJsonObject, type JsonValue } from '../../../core/json.ts'

const DOCUMENT = new URL('../../../../../docs/reference/openapi.json', import.meta.url)

test('every $ref of the OpenAPI document names something in it', () => {
  const document = parseJson(readFileSync(DOCUMENT, 'utf8')) ?? null
  const references = referencesIn(document)
  expect(references.length).toBeGreaterThan(100)
  expect(references.filter((reference) => at(document, reference) === undefined)).toEqual([])
})

function referencesIn(value: JsonValue | undefined): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  const own = isJsonObject(value) && typeof value['$ref'] === 'string' ? [value['$ref']] : []
  return [...own, ...Object.values(value).flatMap((child) => referencesIn(child))]
}

function at(document: JsonValue, reference: string): JsonValue | undefined {
  let found: JsonValue | undefined = document
  for (const step of reference.replace(/^#\//, '').split('/')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    found = isJsonObject(found) ? found[name] : undefined
  }
  return found
}
