/** Asking a chat upstream for its usage when the client did not (docs/reference/contract.md#D-requests-21). */
import type { ScannedRequest } from './scanned-request.ts'
import type { Edit } from '../splice.ts'

const encoder = new TextEncoder()

/**
 * The edit that sets `stream_options.include_usage`, or undefined where nothing is to be done: the call does not
 * stream, the client asks itself, or `stream_options` is nothing that the upstream would take. A client that says anything
 * but `true` wants no usage, which is no reason for the gateway not to know it. Where an edit is made, the stream's extra
 * usage chunk is not the client's (`removeUsageChunk`).
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
  return includeUsage.kind === 'true'
    ? undefined
    : { ...span(includeUsage), replacement: encoder.encode('true') }
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
