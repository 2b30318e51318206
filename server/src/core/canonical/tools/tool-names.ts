/**
 * Tool names and call ids within a target's limits, and back (docs/protocols.md#trap-34). The mapping is a pure function
 * of the name, so a call, its result and every later turn get the same id without a table.
 */
import { hashText } from '../hash-text.ts'
import type { Tool } from '../request.ts'

/** The only vendor whose limit is shorter than a hash is Mistral, with nine. */
const HASH_LENGTH = 11
/** Mistral takes call ids of exactly nine letters or digits (its 400 says so), so a limit of nine means that form. */
const NINE = 9

interface NamedTool {
  readonly name: string
  readonly namespace: string | undefined
}

/** What a tool is called upstream: its namespace flattened, odd characters replaced, shortened by a hash. */
export function upstreamToolName({ name, namespace }: NamedTool, maxLength: number): string {
  return bounded(flatToolName({ name, namespace }), maxLength)
}

/** The one name a namespaced tool has where there are no namespaces. */
export function flatToolName({ name, namespace }: NamedTool): string {
  return namespace === undefined ? name : `${namespace}__${name}`
}

/** What a call's id is upstream. */
export function upstreamCallId(id: string, maxLength: number): string {
  if (maxLength === NINE) return /^[a-zA-Z0-9]{9}$/.test(id) ? id : hashText(id).slice(-NINE)
  return bounded(id, maxLength)
}

/** Finds the client's own tool behind an upstream name; the name itself when the client declared no such tool. */
export type ToolFinder = (upstreamName: string) => NamedTool & { readonly kind: 'function' | 'custom' }

/**
 * Name lengths of upstreams: OpenAI and most others, and Anthropic. An answer does not say which limit was applied to
 * its names.
 */
const NAME_LENGTHS = [64, 128] as const

export function findTools(tools: readonly Tool[], maxLength: number): ToolFinder {
  const known = new Map<string, ReturnType<ToolFinder>>()
  for (const tool of tools) {
    if (tool.type === 'hosted') continue
    const found = { name: tool.name, namespace: tool.namespace, kind: tool.type }
    for (const length of [maxLength, ...NAME_LENGTHS]) {
      const upstreamName = upstreamToolName(tool, length)
      if (!known.has(upstreamName)) known.set(upstreamName, found)
    }
  }
  return (upstreamName) =>
    known.get(upstreamName) ?? { name: upstreamName, namespace: undefined, kind: 'function' }
}

function bounded(text: string, maxLength: number): string {
  const plain = text.replaceAll(/[^a-zA-Z0-9_-]/g, '_')
  if (plain === text && text.length <= maxLength && text !== '') return text
  const hash = hashText(text).slice(-Math.min(HASH_LENGTH, maxLength))
  const room = Math.max(0, maxLength - hash.length - 1)
  const start = plain.slice(0, room)
  return start === '' ? hash : `${start}_${hash}`
}
