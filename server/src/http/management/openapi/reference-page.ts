/** The document as a page for people. It loads nothing from elsewhere, so it works offline. */
import { isJsonArray } from '../../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.ts'
import { htmlText, markedText } from './html-text.ts'
import { PAGE_SCRIPT } from './reference-script.ts'
import { PAGE_STYLE } from './reference-style.ts'
import { Outline } from './schema-outline.ts'

/** `use`: for users and programs. `operate`: for administrators. */
export type ReferencePart = 'use' | 'operate'

export function referencePage(document: JsonObject, part: ReferencePart): string {
  const info = isJsonObject(document['info']) ? document['info'] : {}
  const title = `${textOf(info['title'])} API${part === 'use' ? '' : ' for operators'}`
  const chapters = chaptersOf(document, part)
  const outline = new Outline(schemasOf(document))
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${htmlText(title)}</title><style>${PAGE_STYLE}</style></head><body>`,
    `<header><h1>${htmlText(title)} <small>${htmlText(textOf(info['version']))}</small></h1>`,
    `<p>${markedText(textOf(info['description']))}</p>${WORDS}${OTHER_PART[part]}</header>`,
    FIND,
    `<div id="page"><nav aria-label="Contents"><details id="contents" open><summary>Contents</summary><ul>`,
    ...chapters.map(({ name }) => `<li><a href="#${slug(name)}">${htmlText(shortName(name))}</a></li>`),
    '</ul></details></nav><main>',
    withoutUnusedAnchors(chapters.map((chapter) => section(chapter, outline)).join('\n')),
    `</main></div><script>${PAGE_SCRIPT}</script></body></html>`,
  ].join('\n')
}

function schemasOf({ components }: JsonObject): JsonObject {
  const schemas = isJsonObject(components) ? components['schemas'] : undefined
  return isJsonObject(schemas) ? schemas : {}
}

/** General rules, not repeated below. */
const WORDS = [
  '<p>Calls take an API key: <code>Authorization: Bearer sk-gateway-…</code>. The account’s own pages take a session: the cookie of a',
  'sign-in, or its token in the same header. With a session, <code>Gw-Organisation: &lt;id&gt;</code> acts for an organisation where the',
  'entry says so.</p>',
  '<p>Any request may be answered with 40000 (invalid request), 40001, 40101–40103 (no valid key or session), 40304 (wrong kind of caller) or',
  '50000–50300; entries name the others that they can give. Every GET below <code>/api/v1</code> carries an ETag. A <code>?</code> stands behind fields that may be absent.</p>',
  '<p>For programs, with every detail: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>',
].join('\n')

const OTHER_PART: Readonly<Record<ReferencePart, string>> = {
  use: '<p>What administrators do has <a href="/docs/operate">a page of its own</a>.</p>',
  operate:
    '<p>Everything here takes the session of an administrator. What people and programs call stands on <a href="/docs">the first page</a>.</p>',
}

const FIND = [
  '<div id="bar" role="search" hidden><input id="find" type="search" aria-label="Find" placeholder="Find a path, a word, a field (press /)">',
  '<output id="found"></output></div>',
].join('')

interface Chapter {
  readonly name: string
  readonly operations: readonly Operation[]
}

interface Operation {
  readonly method: string
  readonly path: string
  readonly words: JsonObject
}

/** Chapters in the order of the document's tags. */
function chaptersOf(document: JsonObject, part: ReferencePart): readonly Chapter[] {
  const operations = operationsOf(document)
  const names = isJsonArray(document['tags'])
    ? document['tags'].flatMap((tag) => (isJsonObject(tag) ? [textOf(tag['name'])] : []))
    : []
  return names
    .filter((name) => name.startsWith(OPERATORS) === (part === 'operate'))
    .map((name) => ({
      name,
      operations: operations.filter(({ words }) => isJsonArray(words['tags']) && words['tags'][0] === name),
    }))
}

/** The protocols' own paths come before the management API's. */
function operationsOf(document: JsonObject): readonly Operation[] {
  const paths = isJsonObject(document['paths']) ? document['paths'] : {}
  const isOwn = ([path]: readonly [string, unknown]) => path.startsWith('/api/')
  const entries = Object.entries(paths)
  return [...entries.filter((one) => !isOwn(one)), ...entries.filter(isOwn)].flatMap(([path, item]) =>
    isJsonObject(item)
      ? Object.entries(item).flatMap(([method, words]) =>
          isJsonObject(words) ? [{ method: method.toUpperCase(), path, words }] : [],
        )
      : [],
  )
}

function section({ name, operations }: Chapter, outline: Outline): string {
  const entries = operations.map((operation) => entry(operation, outline))
  return `<section><h2 id="${slug(name)}">${htmlText(shortName(name))}</h2>\n${entries.join('\n')}</section>`
}

/** An object gets an anchor before it is known whether a later one is equal. */
function withoutUnusedAnchors(html: string): string {
  const used = new Set([...html.matchAll(/href="#(o\d+)"/g)].map(([, anchor]) => anchor))
  return html.replace(/<i id="(o\d+)">\{<\/i>/g, (whole, anchor: string) => (used.has(anchor) ? whole : '{'))
}

/** Prefix of operators' tags. */
const OPERATORS = 'Admin: '

function shortName(tag: string): string {
  const own = tag.startsWith(OPERATORS) ? tag.slice(OPERATORS.length) : tag
  return own.charAt(0).toUpperCase() + own.slice(1)
}

const WHO: Readonly<Record<string, string>> = {
  anonymous: 'anyone',
  optional: 'anyone',
  key: 'API key',
  account: 'API key or session',
  session: 'session',
  organisation: 'session of a member',
  admin: 'administrator',
}

function entry({ method, path, words }: Operation, outline: Outline): string {
  const title = `${method} ${path}`
  const id = textOf(words['operationId'])
  const access = textOf(words['x-access'])
  return [
    `<details id="${id}"><summary><b>${method}</b><kbd>${htmlText(path)}</kbd>`,
    `<span>${markedText(textOf(words['summary']))}</span><em>${WHO[access] ?? access}</em></summary><div>`,
    words['description'] === undefined ? '' : `<p>${markedText(textOf(words['description']))}</p>`,
    parameters(words['parameters'], outline, { id, title }),
    body(words['requestBody'], outline, title),
    answers(words['responses'], outline, { id, title }),
    '</div></details>',
  ].join('')
}

/** An operation's position on the page. */
interface Shown {
  readonly id: string
  readonly title: string
}

/** Described once for all; `Gw-Organisation` in the text of each entry that accepts it. */
const KNOWN_PARAMETERS: readonly JsonValue[] = ['If-None-Match', 'Gw-Organisation']

/** Lists with at least this many parameters are shown once. */
const SHARED_PARAMETERS_MIN = 3

function parameters(list: JsonValue | undefined, outline: Outline, operation: Shown): string {
  const rows = (isJsonArray(list) ? list : [])
    .filter(isJsonObject)
    .filter(({ name }) => !KNOWN_PARAMETERS.includes(name ?? null))
    .map((one) => {
      const mark = one['required'] === true ? '' : '?'
      const told = one['description']
      const meaning = typeof told === 'string' ? ` <s>${markedText(told)}</s>` : ''
      const type = outline.lines(one['schema'], '')
      return `<b>${htmlText(textOf(one['name']))}</b>${mark} (${textOf(one['in'])}): ${type}${meaning}`
    })
  if (rows.length === 0) return ''
  const text = rows.join('\n')
  const before = rows.length < SHARED_PARAMETERS_MIN ? undefined : outline.linkToEarlier(text, operation)
  return `<h3>Parameters</h3>${before === undefined ? `<pre>${text}</pre>` : `<p>${before}</p>`}`
}

function body(words: JsonValue | undefined, outline: Outline, title: string): string {
  if (!isJsonObject(words)) return ''
  return contentsOf(words['content'])
    .map(([type, schema]) => {
      const form = type === 'application/json' ? '' : `, ${type}`
      const need = words['required'] === true ? '' : ' (optional)'
      return `<h3>Body${form}${need}</h3><pre>${outline.lines(schema, title)}</pre>`
    })
    .join('')
}

function answers(words: JsonValue | undefined, outline: Outline, operation: Shown): string {
  if (!isJsonObject(words)) return ''
  const good = Object.entries(words).flatMap(([status, answer]) =>
    /^2\d\d$/.test(status) && isJsonObject(answer)
      ? contentsOf(answer['content']).map(([type, schema]) =>
          goodAnswer({ status, type, schema }, outline, operation.title),
        )
      : [],
  )
  return good.join('') + errors(words, outline, operation)
}

interface GoodAnswer {
  readonly status: string
  readonly type: string
  readonly schema: JsonValue | undefined
}

/** Of the gateway's envelope only the part that differs is shown. */
function goodAnswer({ status, type, schema }: GoodAnswer, outline: Outline, title: string): string {
  const form = type === 'application/json' ? '' : `, ${type}`
  const properties = isJsonObject(schema) && isJsonObject(schema['properties']) ? schema['properties'] : {}
  const data = 'data' in properties && 'code' in properties ? properties['data'] : undefined
  const page = 'next_cursor' in properties ? ', beside it next_cursor' : ''
  if (data === undefined) {
    const lines = outline.lines(schema, title)
    return `<h3>Answer ${status}${form}</h3>${lines === 'string' ? '' : `<pre>${lines}</pre>`}`
  }
  return `<h3>Answer ${status}${form}, data${page}</h3><pre>${outline.lines(data, title)}</pre>`
}

const EVERYWHERE: ReadonlySet<string> = new Set(['40000', '40001', '40101', '40102', '40103', '40304'])

/** Lists with at least this many errors are shown once. */
const SHARED_ERRORS_MIN = 4

function errors(words: JsonObject, outline: Outline, operation: Shown): string {
  const own = Object.entries(words).flatMap(([status, answer]) =>
    /^[45]\d\d$/.test(status) && isJsonObject(answer)
      ? textOf(answer['description'])
          .split(/, (?=\d{5} )/)
          .filter((told) => !EVERYWHERE.has(told.slice(0, 5)))
      : [],
  )
  if (own.length === 0) return ''
  const list = own.map(markedText).join('<br>')
  const before = own.length < SHARED_ERRORS_MIN ? undefined : outline.linkToEarlier(list, operation)
  return `<h3>Errors</h3><p>${before ?? list}</p>`
}

function contentsOf(content: JsonValue | undefined): readonly (readonly [string, JsonValue | undefined])[] {
  if (!isJsonObject(content)) return []
  return Object.entries(content).map(([type, media]) => [
    type,
    isJsonObject(media) ? media['schema'] : undefined,
  ])
}

function slug(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, '-')
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
