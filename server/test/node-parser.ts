/** Node's own parser of HTTP/1.1 (llhttp), as `node:http` uses it; it has no types. */
import { createRequire } from 'node:module'

interface NodeParser {
  initialize(type: number, resource: object, headBytesMax: number, lenient: number): void
  execute(bytes: Buffer): unknown
  finish(): unknown
  [callback: number]: (...given: never[]) => unknown
}

interface NodeParserClass {
  new (): NodeParser
  readonly REQUEST: number
  readonly RESPONSE: number
  readonly kOnHeaders: number
  readonly kOnHeadersComplete: number
  readonly kOnBody: number
  readonly kOnMessageComplete: number
  /** What a server without `insecureHTTPParser` is lenient in. */
  readonly kLenientNone: number
}

export const { HTTPParser } = createRequire(import.meta.url)('node:_http_common') as {
  readonly HTTPParser: NodeParserClass
}

export type Fields = Readonly<Record<string, string | readonly string[]>>

/** Names and values that alternate, as fields by their lower-case names. */
export function grouped(list: readonly string[]): Fields {
  const fields: Record<string, string | string[]> = Object.create(null)
  for (let at = 0; at + 1 < list.length; at += 2) {
    const name = (list[at] ?? '').toLowerCase()
    const value = list[at + 1] ?? ''
    const before = fields[name]
    if (before === undefined) fields[name] = value
    else fields[name] = typeof before === 'string' ? [before, value] : [...before, value]
  }
  return fields
}
