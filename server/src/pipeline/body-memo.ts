/** What was computed from a request's body, once for all attempts of its call. Kept as long as the body. */
import type { CanonicalRequest, MediaSource } from '../core/canonical/request.ts'
import type { JsonValue } from '../core/json.ts'
import type { Decoded } from '../core/protocols/protocol.ts'

export interface BodyMemo {
  /** The request in canonical form. */
  decoded?: DecodedBody
  /** If the body was decoded in a thread: the client's input, as the JSON text of an array. */
  writtenInput?: string
  /** A copy in memory that threads share. */
  shared?: Promise<Uint8Array>
  /** The bytes of the document made from a form have been counted. */
  documentHeld?: boolean
  /** Media that the body names by address. */
  fetched?: FetchedBytes
}

export interface DecodedBody {
  readonly decoded: Decoded<CanonicalRequest>
  /** Responses: the input of this request, without the conversation it continues. */
  readonly input: readonly JsonValue[]
}

export interface FetchedBytes {
  /** Fetched media by address. */
  readonly sources: Map<string, MediaSource>
  /** Bytes of everything fetched, refused media included. */
  bytes: number
}
