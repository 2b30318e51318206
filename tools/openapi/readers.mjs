/** Three independent readers of an OpenAPI document: text of the document → what they refuse, a line each. */
import { validate } from '@readme/openapi-parser'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

/** Resolves every reference, then holds the document against the schema of the standard. */
export async function parserFindings(text) {
  const result = await validate(JSON.parse(text))
  return result.valid ? [] : result.errors.map(({ message }) => `parser: ${message}`)
}

/** The strictest rules there are, as they come: what only would be nicer is no rule of theirs. */
export async function linterFindings(text) {
  const config = await createConfig({ extends: ['recommended-strict'] })
  const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config })
  return problems.map(
    ({ ruleId, message, location }) => `linter: ${ruleId}: ${message} at ${location[0]?.pointer ?? '#'}`,
  )
}

/** Formats that say how a number or text is meant, and bound nothing. */
const MEANINGS = ['binary']

/**
 * Compiles every schema of the document. A keyword or format nobody knows, a bound of a type that cannot have it and a
 * `required` that is spelt otherwise below `properties` are refused; other checkers let them pass and check nothing.
 */
export function compilerFindings(text) {
  const document = JSON.parse(text)
  // Compiled once and never run: what would make it faster then only costs now.
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, code: { optimize: false } })
  addFormats(ajv)
  for (const format of MEANINGS) ajv.addFormat(format, true)
  ajv.addVocabulary([...Object.keys(document), 'example'])
  ajv.addSchema(document, 'openapi.json')
  return [...differentSchemas(document).values()].flatMap((pointer) => {
    try {
      ajv.compile({ $ref: `openapi.json${pointer}` })
      return []
    } catch (error) {
      return [`compiler: ${error.message} in ${pointer}`]
    }
  })
}

/** Text of each schema that stands for itself (of a parameter, a body, an answer, a shared one) → a pointer to it. */
function differentSchemas(value, pointer = '#', found = new Map()) {
  if (typeof value !== 'object' || value === null) return found
  for (const [name, child] of Object.entries(value)) {
    const place = `${pointer}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`
    if (name === 'schema' || pointer === '#/components/schemas') found.set(JSON.stringify(child), place)
    else differentSchemas(child, place, found)
  }
  return found
}
