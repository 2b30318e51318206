import type { OfflineChunk } from '../../../core/offline-answer.ts'

/** Between two events of a stream: fast for a reader, slow enough to be seen streaming. */
const BETWEEN_EVENTS_MS = 8

export function pace(data: string): OfflineChunk {
  return { data, afterMs: BETWEEN_EVENTS_MS }
}
