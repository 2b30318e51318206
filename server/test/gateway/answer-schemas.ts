/** What the OpenAPI document says of answers, asked of answers: whether one is as described, and what of it may be absent. */
import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { isJsonArray, parseJson } from '../../src/core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/core/json.ts'

/** As `npm run check` holds it to the routes. */
const WRITTEN = new URL('../../../docs/reference/openapi.json', import.meta.url)
const ID = 'openapi.json'

export interface AnswerSchema {
  /** Everything that is not as described, a line each. */
  faults(value: JsonValue): readonly string[]
  accepts(value: JsonValue): boolean
  /** Pointers to the members that may be absent. */
  optionalMembers(value: JsonValue): ReadonlySet<string>
}

export interface Answered {
  /** In capitals. */
  readonly method: string
  /** As the document writes it, with its parameters in braces. */
  readonly path: string
  readonly status: number
  /** Without parameters; JSON when absent. */
  readonly mediaType?: string
}

export class AnswerSchemas {
  readonly #ajv = new Ajv2020({
    strict: true,
    allowUnionTypes: true,
    // Each part is compiled once and asked a few times: what makes a check fast costs more here than it saves.
    inlineRefs: false,
    code: { optimize: false },
  })
  readonly #document: JsonObject
  readonly #known = new Map<JsonObject, AnswerSchema>()
  readonly #compiled = new Map<JsonObject, ValidateFunction>()

  constructor(document: JsonObject = writtenDocument()) {
    // Parts are compiled by themselves: their references have to say which document they mean.
    this.#document = withAbsoluteReferences(document)
    addFormats.default(this.#ajv)
    this.#ajv.addFormat('binary', true)
    this.#ajv.addVocabulary([...Object.keys(document), 'example'])
    this.#ajv.addSchema(this.#document, ID)
  }

  /** undefined: the document has none for this. */
  of({ method, path, status, mediaType = 'application/json' }: Answered): AnswerSchema | undefined {
    const answers = at(this.#document, ['paths', path, method.toLowerCase(), 'responses'])
    const answer = at(answers, [String(status)]) ?? at(answers, [`${String(status).charAt(0)}XX`])
    const schema = at(answer, ['content', mediaType, 'schema'])
    return schema === undefined ? undefined : this.#schema(schema)
  }

  /** One of `components`. */
  named(name: string): AnswerSchema {
    const schema = at(this.#document, ['components', 'schemas', name])
    if (schema === undefined) throw new Error(`the document has no schema ${name}`)
    return this.#schema(schema)
  }

  #schema(schema: JsonObject): AnswerSchema {
    const known = this.#known.get(schema)
    if (known !== undefined) return known
    const made: AnswerSchema = {
      faults: (value) => this.#faults(schema, value),
      accepts: (value) => this.#validator(schema)(value),
      optionalMembers: (value) =>
        new Set(this.#validator(schema)(value) ? this.#optionalMembers([schema], value, '') : []),
    }
    this.#known.set(schema, made)
    return made
  }

  #validator(schema: JsonObject): ValidateFunction {
    const known = this.#compiled.get(schema)
    if (known !== undefined) return known
    const made = this.#ajv.compile(schema)
    this.#compiled.set(schema, made)
    return made
  }

  #faults(schema: JsonObject, value: JsonValue): readonly string[] {
    const validate = this.#validator(schema)
    if (validate(value)) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message = 'is wrong', params }) =>
        `${instancePath === '' ? '/' : instancePath} ${message} ${JSON.stringify(params)}`,
    )
  }

  /** Optional is what some schema that fits the value does not ask for. All of them fit, but for their alternatives. */
  #optionalMembers(schemas: readonly JsonObject[], value: JsonValue, pointer: string): readonly string[] {
    const fitting = schemas.flatMap((schema) => this.#fitting(schema, value))
    if (isJsonArray(value)) {
      const items = fitting.flatMap(({ items: each }) => (isJsonObject(each) ? [each] : []))
      return value.flatMap((item, index) => this.#optionalMembers(items, item, `${pointer}/${index}`))
    }
    if (!isJsonObject(value)) return []
    return Object.entries(value).flatMap(([name, member = null]) => {
      const place = `${pointer}/${name}`
      const needed = fitting.every(({ required }) => isJsonArray(required) && required.includes(name))
      const below = fitting.flatMap((schema) => memberSchema(schema, name))
      return [...(needed ? [] : [place]), ...this.#optionalMembers(below, member, place)]
    })
  }

  /** A schema that fits, without its references and choices: those alternatives that fit, the only ones that are compiled for it. */
  #fitting(schema: JsonObject, value: JsonValue): readonly JsonObject[] {
    const { $ref, anyOf } = schema
    if (typeof $ref === 'string') {
      const found = at(this.#document, $ref.slice(`${ID}#/`.length).split('/'))
      return found === undefined ? [] : this.#fitting(found, value)
    }
    if (isJsonArray(anyOf))
      return anyOf
        .filter(isJsonObject)
        .filter((alternative) => this.#validator(alternative)(value))
        .flatMap((alternative) => this.#fitting(alternative, value))
    return [schema]
  }
}

function memberSchema({ properties, additionalProperties }: JsonObject, name: string): readonly JsonObject[] {
  const own = isJsonObject(properties) ? properties[name] : undefined
  const found = own ?? additionalProperties
  return isJsonObject(found) ? [found] : []
}

function writtenDocument(): JsonObject {
  const document = parseJson(readFileSync(WRITTEN, 'utf8'))
  if (!isJsonObject(document)) throw new Error('docs/reference/openapi.json is no JSON object')
  return document
}

function withAbsoluteReferences(document: JsonObject): JsonObject {
  const text = JSON.stringify(document).replaceAll('"$ref":"#/', `"$ref":"${ID}#/`)
  const absolute = parseJson(text)
  return isJsonObject(absolute) ? absolute : {}
}

function at(value: JsonValue | undefined, steps: readonly string[]): JsonObject | undefined {
  const found = steps.reduce<JsonValue | undefined>(
    (place, step) => (isJsonObject(place) ? place[step] : undefined),
    value,
  )
  return isJsonObject(found) ? found : undefined
}
