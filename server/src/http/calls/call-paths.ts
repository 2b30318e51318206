/** Which paths are calls, by the registry of endpoint kinds; everything else goes to the framework. */
import type { IncomingEndpoint } from '../../pipeline/call.ts'
import { KINDS } from '../../pipeline/kinds/index.ts'
import type { Asked, EndpointKind, EndpointPath } from '../../pipeline/kinds/kind.ts'
import { unofferedSentence } from './unoffered.ts'

/** What a request line means. */
export type CallPath =
  | { readonly kind: 'call'; readonly endpoint: IncomingEndpoint; readonly asked: Asked }
  /** The path is a call's, but the method is not. */
  | { readonly kind: 'wrong-method'; readonly allow: string }
  | { readonly kind: 'other' }

export function matchCallPath(method: string, path: string, query: string): CallPath {
  const found = findPlace(path)
  if (found === undefined) return OTHER
  const { place, values } = found
  const row = place.rows.find((each) => takes(each.path, method))
  if (row !== undefined)
    return {
      kind: 'call',
      endpoint: endpointOf(row, values, query),
      asked: { method, action: row.path.action, values, query },
    }
  if (unofferedSentence(path) !== undefined) return OTHER
  return { kind: 'wrong-method', allow: place.rows.flatMap((each) => each.path.methods).join(', ') }
}

const OTHER: CallPath = { kind: 'other' }

/** One path of one kind. */
interface Row {
  readonly kind: EndpointKind
  readonly path: EndpointPath
}

/** Everything at one path. */
interface Place {
  readonly rows: Row[]
  /** Extracts the values; undefined: the path must match literally. */
  readonly pattern: RegExp | undefined
  /** Prefix of every path that the pattern matches. */
  readonly prefix: string
}

/** `{name}` and whether a colon follows it. */
const NAME = /\{(\w+)\}(?=(:)?)/g

const PLACES: ReadonlyMap<string, Place> = placesOf(KINDS)
const PATTERNS: readonly Place[] = [...PLACES.values()].filter(({ pattern }) => pattern !== undefined)

function placesOf(kinds: readonly EndpointKind[]): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>()
  for (const kind of kinds) {
    for (const path of kind.paths) {
      const row = { kind, path }
      const known = places.get(path.path)
      if (known === undefined) places.set(path.path, placeOf(row))
      else known.rows.push(row)
    }
  }
  return places
}

function placeOf(row: Row): Place {
  const { path, values } = row.path
  const prefix = path.split('{', 1)[0] ?? path
  if (prefix === path) return { rows: [row], pattern: undefined, prefix }
  const source = path.replace(NAME, (_, name: string, colon: string | undefined) => {
    const value = values?.[name]?.source ?? (colon === undefined ? '[^/]+' : '.+')
    return `(?<${name}>${value})`
  })
  return { rows: [row], pattern: new RegExp(`^${source}$`), prefix }
}

interface FoundPlace {
  readonly place: Place
  readonly values: Asked['values']
}

function findPlace(path: string): FoundPlace | undefined {
  const fixed = PLACES.get(path)
  if (fixed !== undefined && fixed.pattern === undefined) return { place: fixed, values: NO_VALUES }
  for (const place of PATTERNS) {
    if (!path.startsWith(place.prefix)) continue
    const groups = place.pattern?.exec(path)?.groups
    const values = groups === undefined ? undefined : decoded(groups)
    if (values !== undefined) return { place, values }
  }
  return undefined
}

const NO_VALUES: Asked['values'] = {}

/** undefined: a value cannot be decoded. */
function decoded(groups: Readonly<Record<string, string>>): Asked['values'] | undefined {
  const values: Record<string, string> = {}
  for (const [name, segment] of Object.entries(groups)) {
    const value = decodeSegment(segment)
    if (value === undefined) return undefined
    values[name] = value
  }
  return values
}

function decodeSegment(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

function takes({ methods, head }: EndpointPath, method: string): boolean {
  return methods.some((known) => known === method) || (head === true && method === 'HEAD')
}

function endpointOf({ kind, path }: Row, values: Asked['values'], query: string): IncomingEndpoint {
  return {
    kind,
    path:
      path.logged === 'values' ? path.path.replace(NAME, (_, name: string) => values[name] ?? '') : path.path,
    protocol: path.protocol,
    streamVerb: path.stream,
    pathModel: values['model'],
    eventStream: path.sseOnDemand !== true || new URLSearchParams(query).get('alt') === 'sse',
  }
}

/** Paths the gateway address serves (docs/reference/contract.md#D-addresses-08); anything else there is 404. */
export function servedAtGatewayAddress(path: string): boolean {
  return (
    path === '/v1/messages' ||
    path === '/v1/messages/count_tokens' ||
    path === '/v1/responses' ||
    path.startsWith('/v1/responses/') ||
    path === '/v1/models'
  )
}
