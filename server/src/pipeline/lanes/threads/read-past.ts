import type { JsonValue } from '../../../core/json.ts'
import { createRequestScanner } from '../../../core/passthrough/requests/request-scan.ts'
import { itemsOfTurn, readTurn, type Turn } from '../../../core/protocols/responses/answer/stored-turn.ts'
import { listOf, objectOf, wordOf } from '../../../core/protocols/read-json.ts'
import { bytesOf } from './bytes-of.ts'
import type { ItemsFound, ItemsTask, PastRead, PastTask } from './work.ts'
import { type KeptText, textOf } from './shared-text.ts'

/** Stored turns as the items of a request, and their size. Throws if one cannot be read. */
export function readPast({ bodies }: PastTask): PastRead {
  const items: JsonValue[] = []
  for (const body of bodies) {
    for (const item of itemsOfTurn(turnOf(body))) items.push(item)
  }
  const bytes = bytesOf(items)
  return { kind: 'past', items: bytes, ...measurePast(bytes) }
}

/** Items of stored answers by their ids. Throws if a turn cannot be read. */
export function findItems({ bodies, ids }: ItemsTask): ItemsFound {
  const wanted = new Set(ids)
  const found = new Map<string, Uint8Array>()
  for (const body of bodies) {
    for (const item of listOf(turnOf(body).response.output)) {
      const id = wordOf(objectOf(item)?.id)
      if (id !== undefined && wanted.has(id)) found.set(id, bytesOf(item))
    }
  }
  return { kind: 'items', found }
}

function turnOf(body: KeptText): Turn {
  const turn = readTurn(JSON.parse(textOf(body)) as JsonValue)
  if (turn === undefined) throw new Error('a kept turn cannot be read')
  return turn
}

/**
 * How much of a stored conversation is images and encrypted reasoning rather than text, as the scanner reports it for a
 * body.
 */
function measurePast(items: Uint8Array) {
  const scanner = createRequestScanner('responses')
  for (const piece of [Buffer.from('{"model":"-","input":'), items, Buffer.from('}')]) scanner.push(piece)
  const scan = scanner.end()
  if (scan.kind === 'refused') throw new Error(`a kept conversation cannot be read: ${scan.message}`)
  const { mediaBytes, mediaCount, values, extras } = scan
  return { bodyBytes: items.byteLength, mediaBytes, mediaCount, values, unseenInput: extras.unseenInput }
}
