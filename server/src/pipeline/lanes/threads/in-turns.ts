/**
 * Documents small enough to be taken apart where the calls run still add up when many come at once: then they take
 * turns, so many to a turn of the event loop as are no more work than the largest of them.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { JsonValue } from '../../../core/json.ts'
import { LiftedStrings } from '../../../core/sse/lifted-strings.ts'
import { LongEvent } from '../../../core/sse/long-event.ts'
import { parseJson } from '../../attempt/classify.ts'

/** Next to nothing: it never waits, whatever else does. */
const FREE_SHARE_MAX = 1 / 32

export interface Pacer {
  /**
   * Asked before work that takes `share` of what one turn may do, at most 1. undefined: go on at once. Otherwise go on
   * when it resolves; it always does, in the order in which it was asked.
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
