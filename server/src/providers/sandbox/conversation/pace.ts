import type { OfflineChunk } from '../../../core/offline-answer.ts'

/** Time between two events of a stream: fast for a reader, slow enough to be visible. */
const BETWEEN_EVENTS_MS = 8

export function pace(data: string): OfflineChunk {
  return { data, afterMs: BETWEEN_EVENTS_MS }
}
