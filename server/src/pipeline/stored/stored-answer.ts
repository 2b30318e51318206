import type { JsonValue } from '../../core/json.ts'

/** What is answered about a kept response. */
export interface StoredAnswer {
  readonly status: number
  /** Bytes are JSON already. */
  readonly body: JsonValue | Uint8Array
}
