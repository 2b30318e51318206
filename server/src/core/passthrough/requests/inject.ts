/** Asking a chat upstream for its usage when the client did not (docs/reference/contract.md#D-requests-21). */
import type { ScannedRequest } from './scanned-request.ts'
import type { Edit } from '../splice.ts'

const encoder = new TextEncoder()

/**
 * The edit that sets `stream_options.include_usage`, or undefined if none is needed: the call does not stream, the
 * client asks for usage itself, or `stream_options` has a type that the upstream would refuse. A client that sends
 * anything but `true` wants no usage, but the gateway still needs it. If an edit is made, the extra usage chunk of the
 * stream is removed before the client (`removeUsageChunk`).
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
