/** The document as a page for people: no script, nothing from elsewhere, so that it opens where nothing else does. */
import { isJsonArray } from '../../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.ts'

export const PAGE_STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; border-bottom: 1px solid var(--line); }
nav a { margin-right: .8rem; white-space: nowrap; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0; }
summary { cursor: pointer; padding: .4rem .7rem; display: flex; gap: .7rem; flex-wrap: wrap; align-items: baseline; }
details > div { padding: .2rem 1rem 1rem; }
.verb { font: 600 .8rem ui-monospace, monospace; min-width: 3.6rem; }
.path { font: .9rem ui-monospace, monospace; } .what { color: GrayText; }
.who { font-size: .8rem; border: 1px solid var(--line); border-radius: 4px; padding: 0 .35rem; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .2rem .5rem; border-top: 1px solid var(--line); vertical-align: top; }
pre { background: var(--soft); padding: .7rem; border-radius: 6px; overflow: auto; font-size: .8rem; max-height: 28rem; }
`

export function referencePage(document: JsonObject): string {
  const operations = operationsOf(document)
  const tags = [...new Set(operations.map((operation) => operation.tag))]
  const info = isJsonObject(document['info']) ? document['info'] : {}
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escape(info['title'])} API</title><style>${PAGE_STYLE}</style></head><body>`,
    `<h1>${escape(info['title'])} API <small>${escape(info['version'])}</small></h1>`,
    `<p>${escape(info['description'])}</p>`,
    '<p>For programs: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>',
    `<nav>${tags.map((tag) => `<a href="#${slug(tag)}">${escape(tag)}</a>`).join('')}</nav>`,
    ...tags.map((tag) => section(tag, operations)),
    '</body></html>',
  ].join('\n')
}

interface Operation {
  readonly method: string
  readonly path: string
  readonly tag: string
  readonly words: JsonObject
}

function operationsOf(document: JsonObject): readonly Operation[] {
  const paths = isJsonObject(document['paths']) ? document['paths'] : {}
  return Object.entries(paths).flatMap(([path, item]) =>
    isJsonObject(item)
      ? Object.entries(item).flatMap(([method, words]) =>
          isJsonObject(words) ? [{ method: method.toUpperCase(), path, tag: tagOf(words), words }] : [],
        )
      : [],
  )
}

function tagOf(words: JsonObject): string {
  const first = isJsonArray(words['tags']) ? words['tags'][0] : undefined
  return typeof first === 'string' ? first : 'Other'
}

function section(tag: string, operations: readonly Operation[]): string {
  const own = operations.filter((operation) => operation.tag === tag)
  return `<h2 id="${slug(tag)}">${escape(tag)}</h2>\n${own.map(entry).join('\n')}`
}

function entry({ method, path, words }: Operation): string {
  return [
    `<details><summary><span class="verb">${method}</span><span class="path">${escape(path)}</span>`,
    `<span class="what">${escape(words['summary'])}</span><span class="who">${escape(words['x-access'])}</span></summary><div>`,
    words['description'] === undefined ? '' : `<p>${escape(words['description'])}</p>`,
    parameters(words['parameters']),
    body(words['requestBody']),
    answers(words['responses']),
    '</div></details>',
  ].join('')
}

function parameters(list: JsonValue | undefined): string {
  if (!isJsonArray(list) || list.length === 0) return ''
  const rows = list
    .filter(isJsonObject)
    .map(
      (one) =>
        `<tr><td><code>${escape(one['name'])}</code></td><td>${escape(one['in'])}</td>` +
        `<td>${one['required'] === true ? 'required' : ''}</td><td>${escape(one['description'])}</td>` +
        `<td><code>${escape(JSON.stringify(withoutDescription(one['schema'])))}</code></td></tr>`,
    )
  return `<table><tr><th>Parameter</th><th>In</th><th></th><th></th><th>Form</th></tr>${rows.join('')}</table>`
}

function withoutDescription(schema: JsonValue | undefined): JsonValue {
  if (!isJsonObject(schema)) return {}
  const { description: _told, ...rest } = schema
  return rest
}

function body(words: JsonValue | undefined): string {
  if (!isJsonObject(words)) return ''
  return `<h4>Body${words['required'] === true ? '' : ' (optional)'}</h4>${contents(words['content'])}`
}

function answers(words: JsonValue | undefined): string {
  if (!isJsonObject(words)) return ''
  return Object.entries(words)
    .map(([status, answer]) => {
      if (!isJsonObject(answer)) return ''
      const told = `<h4>${escape(status)} ${escape(answer['description'])}</h4>`
      // Errors have one form, which the page tells once.
      return /^(2\d\d)$/.test(status) ? told + contents(answer['content']) : told
    })
    .join('')
}

function contents(content: JsonValue | undefined): string {
  if (!isJsonObject(content)) return ''
  return Object.entries(content)
    .map(([type, media]) => {
      const schema = isJsonObject(media) ? media['schema'] : undefined
      return `<p><code>${escape(type)}</code></p><pre>${escape(JSON.stringify(schema ?? {}, undefined, 1))}</pre>`
    })
    .join('')
}

function slug(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, '-')
}

function escape(value: JsonValue | undefined): string {
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
