/** A document that is broken does not get past the readers of `npm run check`, whatever is broken about it. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { root } from '../project/tree.mjs'
import { compilerFindings, linterFindings, parserFindings } from './readers.mjs'

const KEYS = '/api/v1/user/user/keys'
const KEY = `${KEYS}/{id}`

/** The document as it is written, with a few of its paths: the whole one is read by `npm run check`. */
const WRITTEN = JSON.parse(readFileSync(join(root, 'docs/reference/openapi.json'), 'utf8'))
const PATHS = Object.fromEntries([KEYS, KEY, '/v1/models'].map((path) => [path, WRITTEN.paths[path]]))
const TEXT = JSON.stringify({
  ...WRITTEN,
  components: { ...WRITTEN.components, schemas: schemasNamedIn(PATHS) },
  paths: PATHS,
})

/** Those that these parts refer to, and those that they refer to. */
function schemasNamedIn(parts, found = {}) {
  for (const [, name] of JSON.stringify(parts).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    if (name in found) continue
    found[name] = WRITTEN.components.schemas[name]
    schemasNamedIn(found[name], found)
  }
  return found
}

const json = (answer) => answer.content['application/json']
const listOf = (document) => json(document.paths[KEYS].get.responses[200])
const dataOf = (document) => listOf(document).schema.properties.data

/** What is broken, how, and who refuses it. */
const FAULTS = [
  [
    'a path parameter that no operation describes',
    (document) => {
      const { get } = document.paths[KEY]
      get.parameters = get.parameters.filter((parameter) => parameter.in !== 'path')
    },
    ['parser', 'linter'],
  ],
  [
    'one operationId for two operations',
    ({ paths }) => {
      paths[KEYS].get.operationId = paths[KEYS].post.operationId
    },
    ['parser', 'linter'],
  ],
  [
    'a $ref that leads nowhere',
    (document) => {
      dataOf(document).items = { $ref: '#/$defs/__schema0' }
    },
    ['parser', 'linter', 'compiler'],
  ],
  [
    'a type that JSON does not have',
    (document) => {
      dataOf(document).type = 'list'
    },
    ['linter', 'compiler'],
  ],
  [
    'an example that its own schema refuses',
    (document) => {
      listOf(document).example = { code: 0, message: 'ok', data: 'none', next_cursor: null }
    },
    ['linter'],
  ],
  [
    'a credential that is no scheme of the document',
    ({ paths }) => {
      paths[KEYS].get.security = [{ password: [] }]
    },
    ['linter'],
  ],
  [
    'a keyword that nobody knows',
    (document) => {
      dataOf(document).maxitems = 3
    },
    ['linter', 'compiler'],
  ],
  [
    'a format that nobody knows',
    (document) => {
      dataOf(document).items = { type: 'string', format: 'timestamp' }
    },
    ['compiler'],
  ],
  [
    'a required field without a schema',
    (document) => {
      listOf(document).schema.required.push('total')
    },
    ['linter', 'compiler'],
  ],
]

async function refusalsOf(text) {
  const findings = {
    parser: await parserFindings(text),
    linter: await linterFindings(text),
    compiler: compilerFindings(text),
  }
  return Object.keys(findings).filter((reader) => findings[reader].length > 0)
}

describe('the readers of the OpenAPI document', () => {
  test('find nothing wrong with what is written', async () => {
    expect(await refusalsOf(TEXT)).toEqual([])
  })

  test.each(FAULTS)('refuse %s', async (_fault, spoil, refusing) => {
    const document = JSON.parse(TEXT)
    spoil(document)
    expect(await refusalsOf(JSON.stringify(document))).toEqual(refusing)
  })
})

describe('the check', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-openapi-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  test('fails on a broken document, and says what is wrong where', () => {
    const document = JSON.parse(TEXT)
    const [, spoil] = FAULTS[0]
    spoil(document)
    const file = join(folder, 'openapi.json')
    writeFileSync(file, JSON.stringify(document))
    const { status, stdout } = spawnSync(process.execPath, ['tools/openapi-validity.mjs', file], {
      cwd: root,
      encoding: 'utf8',
    })
    expect(status).toBe(1)
    expect(stdout).toContain(`missing path parameter(s) for \`{id}\``)
    expect(stdout).toContain('path-parameters-defined')
  })
})
