import { setImmediate as nextTurn } from 'node:timers/promises'
import type { JsonValue } from '../../../core/json.ts'
import { LiftedStrings } from '../../../core/sse/lifted-strings.ts'
import { LongEvent } from '../../../core/sse/long-event.ts'
import { parseJson } from '../../attempt/classify.ts'

/** Taken apart at once; a few milliseconds. */
const PIECE_BYTES = 262_144

/** What a document spells, read a piece at a time with everybody else in between; undefined: it is no JSON. */
export async function parseInTurns(document: Uint8Array): Promise<JsonValue | undefined> {
  const { byteLength } = document
  if (byteLength <= PIECE_BYTES) return parseJson(document)
  const reading = new LongEvent(new LiftedStrings(undefined))
  for (let end = PIECE_BYTES; end < byteLength; end += PIECE_BYTES) {
    reading.push(document, 0, end)
    await nextTurn()
  }
  return reading.end(document, 0, byteLength)
}
