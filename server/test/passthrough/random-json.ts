import type { Chance } from './test-kit.ts'

/**
 * JSON text no serializer would write: odd white space, escapes for no reason, numbers only text can hold, keys twice,
 * the key `model` at every depth and in every spelling. For the fuzz tests.
 */
export function randomJsonObject(chance: Chance): string {
  return randomRequest(chance).body
}

export interface RandomRequest {
  readonly body: string
  /** The same text with every top-level `model` value replaced. */
  readonly withModel: (json: string) => string
  /** The top-level `model` that counts: the last. */
  readonly model: string
}

export function randomRequest(chance: Chance): RandomRequest {
  const members: string[] = []
  for (let count = chance.below(6); count > 0; count--) members.push(member(chance, 0))
  for (let count = 1 + chance.below(2); count > 0; count--) {
    const written = `${modelKey(chance)}${gap(chance)}:${gap(chance)}${OPEN}${text(chance)}${CLOSE}`
    members.splice(chance.below(members.length + 1), 0, written)
  }
  const list = members.join(`${gap(chance)},${gap(chance)}`)
  const marked = `${gap(chance)}{${gap(chance)}${list}${gap(chance)}}${gap(chance)}`
  const values = [...marked.matchAll(MARKED)].map((match) => String(JSON.parse(match[1] ?? '')))
  return {
    body: marked.replaceAll(MARKED, '$1'),
    withModel: (json) => marked.replaceAll(MARKED, () => json),
    model: values.at(-1) ?? '',
  }
}

/** Characters no text of ours holds, around the values that are to be replaced. */
const OPEN = '\ue000'
const CLOSE = '\ue001'
const MARKED = /\ue000([^\ue001]*)\ue001/g

function member(chance: Chance, depth: number): string {
  const name = chance.below(4) === 0 && depth > 0 ? modelKey(chance) : text(chance)
  return `${name}${gap(chance)}:${gap(chance)}${value(chance, depth + 1)}`
}

/** Some name that is not `model` by accident at the top: `text` never writes it. */
function modelKey(chance: Chance): string {
  return chance.pick([
    '"model"',
    '"model"',
    '"\\u006dodel"',
    '"mod\\u0065l"',
    '"\\u006D\\u006F\\u0064\\u0065\\u006C"',
  ])
}

function value(chance: Chance, depth: number): string {
  const kind = chance.below(depth > 5 ? 5 : 8)
  if (kind === 0) return chance.pick(['true', 'false', 'null'])
  if (kind <= 2) return number(chance)
  if (kind <= 4) return text(chance)
  const inside: string[] = []
  for (let count = chance.below(5); count > 0; count--) {
    inside.push(kind <= 6 ? member(chance, depth) : value(chance, depth + 1))
  }
  const list = inside.join(`${gap(chance)},${gap(chance)}`)
  return kind <= 6 ? `{${gap(chance)}${list}${gap(chance)}}` : `[${gap(chance)}${list}${gap(chance)}]`
}

function number(chance: Chance): string {
  return chance.pick([
    '0',
    '-0',
    '1.0',
    '1.50',
    '-12',
    '1e3',
    '1E+2',
    '2.5e-7',
    '123456789012345678901234567890',
    '0.1000000000000000055511151231257827',
    '1e400',
  ])
}

function text(chance: Chance): string {
  let inside = ''
  for (let count = chance.below(6); count > 0; count--) {
    inside += chance.pick([
      'a',
      'gpt-5',
      ' ',
      '\\n',
      '\\"',
      '\\\\',
      '\\/',
      '\\u0041',
      '\\ud83c\\udf88',
      '\\ud800',
      'é',
      'ß你',
      '🎈',
      '\u007f',
      '{',
      '\\"model\\":\\"x\\"',
      'x'.repeat(70),
    ])
  }
  return `"${inside}"`
}

function gap(chance: Chance): string {
  return chance.below(3) > 0 ? '' : chance.pick([' ', '\n', '\t', '\r\n', '  \n\t'])
}
