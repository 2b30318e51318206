/**
 * Documents small enough for the thread that serves calls still add up when many come at once. Then they take turns: each
 * turn of the event loop processes no more than the work of the largest of them.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { JsonValue } from '../../../core/json.ts'
import { LiftedStrings } from '../../../core/sse/lifted-strings.ts'
import { LongEvent } from '../../../core/sse/long-event.ts'
import { parseJson } from '../../attempt/classify.ts'

/** So little work that it never waits. */
const FREE_SHARE_MAX = 1 / 32

export interface Pacer {
  /**
   * Call before work that takes `share` (at most 1) of what one turn may do. undefined: proceed at once. Otherwise
   * proceed when it resolves; it always does, in the order of the calls.
   */
  turn(share: number): Promise<void> | undefined
}

/** `later` runs something in the next turn of the event loop. */
export function createPacer(later: (next: () => void) => void): Pacer {
  const waiting: { readonly share: number; readonly go: () => void }[] = []
  let spent = 0
  let asked = false
  const begin = (share: number): boolean => {
    if (spent > 0 && spent + share > 1) return false
    spent += share
    return true
  }
  const nextTurn = (): void => {
    asked = false
    spent = 0
    for (let next = waiting[0]; next !== undefined && begin(next.share); next = waiting[0]) {
      waiting.shift()
      next.go()
    }
    if (spent > 0) ask()
  }
  const ask = (): void => {
    if (asked) return
    asked = true
    later(nextTurn)
  }
  return {
    turn(share) {
      if (share <= FREE_SHARE_MAX) return undefined
      ask()
      if (waiting.length === 0 && begin(share)) return undefined
      return new Promise((resolve) => {
        waiting.push({ share, go: resolve })
      })
    },
  }
}

/** Parsing this much at once takes a few milliseconds. */
const PIECE_BYTES = 262_144

/** The value of a document, parsed in pieces with other work in between; undefined: it is not JSON. */
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
