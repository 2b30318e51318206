/**
 * How tightly the document describes answers: real ones are spoilt at random, and counted is how many of the spoilt ones its
 * schemas refuse. Leaving out what may be absent spoils nothing and is no try; which members those are says the schema.
 */
import { expect } from 'vitest'
import { isJsonArray } from '../../src/core/canonical/json-text.ts'
import { isJsonObject, type JsonValue } from '../../src/core/json.ts'
import { type Random, randomOf } from '../simulation/random.ts'
import type { AnswerSchema } from './answer-schemas.ts'

export interface SeenAnswer {
  readonly schema: AnswerSchema
  readonly value: JsonValue
  /** For whoever reads a failure. */
  readonly from: string
}

interface Tightness {
  readonly tries: number
  readonly refused: number
  /** A few of those that were not: what was done where. */
  readonly accepted: readonly string[]
}

const SEED = Number(process.env['TIGHTNESS_SEED'] ?? 20_260_101)
const TRIES_EACH = 24
/** Of what is spoilt, so much is refused at least. */
const REFUSED_MIN = 0.9
const EXAMPLES_MAX = 12

/** Prints the ratio too. */
export function expectTight(group: string, answers: readonly SeenAnswer[]): void {
  const { tries, refused, accepted } = tightnessOf(answers, SEED)
  const ratio = refused / tries
  process.stdout.write(`${group}: ${refused} of ${tries} refused (${(ratio * 100).toFixed(1)} %)\n`)
  expect(ratio, `seed ${SEED}; accepted were\n${accepted.join('\n')}`).toBeGreaterThanOrEqual(REFUSED_MIN)
}

function tightnessOf(answers: readonly SeenAnswer[], seed: number): Tightness {
  const random = randomOf(seed)
  let tries = 0
  const accepted: string[] = []
  for (const { schema, value, from } of answers) {
    const optional = schema.optionalMembers(value)
    for (let attempt = 0; attempt < TRIES_EACH; attempt += 1) {
      const spoilt = spoil(value, optional, random)
      if (spoilt === undefined) continue
      tries += 1
      if (schema.accepts(spoilt.value)) accepted.push(`${spoilt.what} in ${from}`)
    }
  }
  const examples = accepted.filter(() => random.chance(EXAMPLES_MAX / accepted.length))
  return { tries, refused: tries - accepted.length, accepted: examples }
}

/** One of each shape: a stream says the same a thousand times. */
export function differentShapes(answers: readonly SeenAnswer[]): readonly SeenAnswer[] {
  const seen = new Map<AnswerSchema, Set<string>>()
  return answers.filter(({ schema, value }) => {
    const shapes = seen.get(schema) ?? new Set()
    seen.set(schema, shapes)
    const shape = shapeOf(value)
    if (shapes.has(shape)) return false
    shapes.add(shape)
    return true
  })
}

function shapeOf(value: JsonValue): string {
  if (isJsonArray(value)) return `[${[...new Set(value.map(shapeOf))].sort().join()}]`
  if (!isJsonObject(value)) return value === null ? 'null' : typeof value
  const members = Object.entries(value).map(
    ([name, member]) => `${name}:${name === 'type' ? JSON.stringify(member) : shapeOf(member ?? null)}`,
  )
  return `{${members.sort().join()}}`
}

type Path = readonly (string | number)[]

interface Place {
  /** Names and indices from the top. */
  readonly path: Path
  readonly value: JsonValue
}

interface Spoilt {
  readonly value: JsonValue
  readonly what: string
}

/** undefined: there is nothing to do it to, or nothing would be wrong. */
function spoil(value: JsonValue, optional: ReadonlySet<string>, random: Random): Spoilt | undefined {
  const place = random.chance(0.5) ? somewhereIn(value, random) : random.pick(placesIn(value))
  const pointer = pointerOf(place.path)
  const isMember = typeof place.path.at(-1) === 'string'
  switch (random.pick(['remove', 'retype', 'rename', 'add'] as const)) {
    case 'remove':
      if (!isMember || optional.has(pointer)) return undefined
      return { value: replaced(value, place.path, () => []), what: `removed ${pointer}` }
    case 'rename': {
      if (!isMember) return undefined
      const renamed = replaced(value, place.path, (name, member) => [[`${name}_renamed`, member]])
      return { value: renamed, what: `renamed ${pointer}` }
    }
    case 'retype': {
      const other = random.pick(OTHER_VALUES.filter((one) => kindOf(one) !== kindOf(place.value)))
      const retyped = replaced(value, place.path, (name) => [[name, other]])
      return { value: retyped, what: `${pointer} became ${JSON.stringify(other)}` }
    }
    case 'add': {
      if (!isJsonObject(place.value)) return undefined
      const more: JsonValue = { ...place.value, added_field: 'another text' }
      return { value: replaced(value, place.path, (name) => [[name, more]]), what: `added to ${pointer}` }
    }
  }
}

const OTHER_VALUES: readonly JsonValue[] = [
  null,
  true,
  12.5,
  'another text',
  [],
  ['another text'],
  {},
  { another: 1 },
]

function kindOf(value: JsonValue): string {
  return value === null ? 'null' : isJsonArray(value) ? 'array' : typeof value
}

/** As deep as chance has it, down to the deepest there is. */
function somewhereIn(value: JsonValue, random: Random): Place {
  let place: Place = { path: [], value }
  for (let steps = random.upTo(depthOf(value)); steps > 0; steps -= 1) {
    const below = placesBelow(place)
    if (below.length === 0) break
    place = random.pick(below)
  }
  return place
}

/** Everything in it, itself included. */
function placesIn(value: JsonValue, path: Path = []): readonly Place[] {
  const place = { path, value }
  return [place, ...placesBelow(place).flatMap((below) => placesIn(below.value, below.path))]
}

function depthOf(value: JsonValue): number {
  const below = placesBelow({ path: [], value }).map((place) => depthOf(place.value))
  return below.length === 0 ? 0 : 1 + Math.max(...below)
}

function placesBelow({ path, value }: Place): readonly Place[] {
  if (isJsonArray(value)) return value.map((item, index) => ({ path: [...path, index], value: item }))
  if (!isJsonObject(value)) return []
  return Object.entries(value).map(([name, member]) => ({ path: [...path, name], value: member ?? null }))
}

function pointerOf(path: Path): string {
  return path.map((step) => `/${step}`).join('')
}

type Members = readonly (readonly [name: string, value: JsonValue])[]

/** The value with something else at that place: no member, one, or one of another name. */
function replaced(
  value: JsonValue,
  path: Path,
  change: (name: string, member: JsonValue) => Members,
): JsonValue {
  const [step, ...rest] = path
  if (step === undefined) return change('', value)[0]?.[1] ?? null
  if (isJsonArray(value))
    return value.map((item, index) => (index === step ? replaced(item, rest, change) : item))
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).flatMap(([name, member = null]): Members => {
    if (name !== step) return [[name, member]]
    return rest.length === 0 ? change(name, member) : [[name, replaced(member, rest, change)]]
  })
  return Object.fromEntries(members)
}
