/**
 * Cursors of clients: opaque, valid for the list that returned them, and refused if made up. The store's own page
 * positions are not exposed.
 */
import { say } from '../../../core/sentences/say.ts'
import { createHash } from 'node:crypto'
import { refuseFields } from './request-fields.ts'

const CHECK_BYTES = 4

/** `list`: the list that the cursor belongs to; it is not valid for another. */
export function writeCursor(list: string, place: string): string {
  return Buffer.concat([checkOf(list, place), Buffer.from(place, 'utf8')]).toString('base64url')
}

/** Throws 400/40000 for anything that no page returned. */
export function readCursor(list: string, cursor: string): string {
  const place = Buffer.from(cursor, 'base64url').subarray(CHECK_BYTES).toString('utf8')
  if (place === '' || writeCursor(list, place) !== cursor) throw badCursor()
  return place
}

export function badCursor() {
  return refuseFields([{ in: 'query', path: 'cursor', message: say('cursor-unknown') }])
}

/** Not a secret: it only detects mistakes, since a cursor grants nothing. */
function checkOf(list: string, place: string): Buffer {
  return createHash('sha256').update(`${list}\n${place}`, 'utf8').digest().subarray(0, CHECK_BYTES)
}
