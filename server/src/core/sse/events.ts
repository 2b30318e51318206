import type { SseEvent } from '../protocols/protocol.ts'
import { SseFramer } from './framer.ts'

/** Events as text, for the stream decoders. */
export interface SseReader {
  push(piece: Uint8Array): readonly SseEvent[]
  /** The event that never got its blank line, if the stream ended in one. */
  end(): readonly SseEvent[]
  /** An event outgrew the framer's bound: the stream is broken and nothing more comes out. */
  readonly overflow: boolean
  /** Bytes of comments and of blocks without data. */
  readonly emptyBytes: number
}

/** Comments and blocks without data are left out. UTF-8 is decoded only per complete event (reference §0, rule 10). */
export function createSseReader(eventBytesMax?: number): SseReader {
  const framer = new SseFramer(eventBytesMax)
  let emptyBytes = 0
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const current = (): SseEvent => ({
    event:
      framer.eventEnd > framer.eventStart
        ? decoder.decode(framer.bytes.subarray(framer.eventStart, framer.eventEnd))
        : '',
    data: decoder.decode(framer.data()),
  })
  return {
    push(piece) {
      const events: SseEvent[] = []
      framer.push(piece)
      while (framer.next()) {
        if (framer.dataLines > 0) events.push(current())
        else emptyBytes += framer.end - framer.start
      }
      return events
    },
    end: () => (framer.finish() && framer.dataLines > 0 ? [current()] : []),
    get overflow() {
      return framer.overflow
    },
    get emptyBytes() {
      return emptyBytes
    },
  }
}
