/** Asking a chat upstream for its usage when the client did not (decisions, Requests: `stream_usage: inject`). */
import type { ScannedRequest } from './request-scan.ts'
import type { Edit } from './splice.ts'

const encoder = new TextEncoder()

/**
 * The edit that sets `stream_options.include_usage`, or undefined where nothing is to be done: the call does not
 * stream, the client said itself what it wants, or wrote something there that is the upstream's to refuse. A `null` is a
 * field left unset. Where an edit is made, the stream's extra usage chunk is not the client's (`removeUsageChunk`).
 */
export function usageInjection(scanned: ScannedRequest): Edit | undefined {
  if (!scanned.stream) return undefined
  const { rootStart, value } = scanned.streamOptions
  if (value === undefined) return insert(rootStart, '"stream_options":{"include_usage":true},')
  if (value.kind === 'null') return { ...span(value), replacement: encoder.encode('{"include_usage":true}') }
  if (value.kind !== 'object') return undefined
  const { includeUsage } = value
  if (includeUsage === undefined) {
    return insert(value.start + 1, value.empty ? '"include_usage":true' : '"include_usage":true,')
  }
  return includeUsage.kind === 'null'
    ? { ...span(includeUsage), replacement: encoder.encode('true') }
    : undefined
}

function insert(at: number, text: string): Edit {
  return { start: at, end: at, replacement: encoder.encode(text) }
}

function span({ start, end }: { readonly start: number; readonly end: number }): {
  readonly start: number
  readonly end: number
} {
  return { start, end }
}
