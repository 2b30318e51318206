/** What chat and responses encode a request from. */
import type { CacheMarkKeeper } from '../canonical/cache-marks.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalField } from './client-fields.ts'
import type { EncodeTarget } from './protocol.ts'

export interface Encoding {
  readonly request: CanonicalRequest
  readonly target: EncodeTarget
  readonly marks: CacheMarkKeeper
  /** Canonical names of what could not be expressed. */
  readonly dropped: Set<CanonicalField | `tools[${number}]`>
}
