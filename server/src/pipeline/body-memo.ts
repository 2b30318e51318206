/** What was computed from a request's body, once for all attempts of its call. It lives as long as the body. */
import type { CanonicalRequest, MediaSource } from '../core/canonical/request.ts'
import type { JsonValue } from '../core/json.ts'
import type { Decoded } from '../core/protocols/protocol.ts'

export interface BodyMemo {
  /** In the canonical form. */
  decoded?: DecodedBody
  /** Of a body that was decoded in a thread: what its client said, as the JSON text of an array. */
  writtenInput?: string
  /** A copy that threads may read. */
  shared?: Promise<Uint8Array>
  /** Room for the document that is made of it, where it is a form, has been taken. */
  documentHeld?: boolean
  /** What it names by address. */
  fetched?: FetchedBytes
}

export interface DecodedBody {
  readonly decoded: Decoded<CanonicalRequest>
  /** Responses: what the client said in this request, without what it continues. */
  readonly input: readonly JsonValue[]
}

export interface FetchedBytes {
  /** By address. */
  readonly sources: Map<string, MediaSource>
  /** Of all that was fetched, refused ones included. */
  bytes: number
}
