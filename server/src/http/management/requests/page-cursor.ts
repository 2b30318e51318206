/**
 * Cursors as clients have them: opaque, good for the list that gave them, and refused when somebody made them up. What a
 * store calls the place of a page stays behind the edge.
 */
import { createHash } from 'node:crypto'
import { refuseFields } from './request-fields.ts'

const CHECK_BYTES = 4

/** `list`: what the cursor is of; another list's is none of it. */
export function writeCursor(list: string, place: string): string {
  return Buffer.concat([checkOf(list, place), Buffer.from(place, 'utf8')]).toString('base64url')
}

/** Throws 400/40000 for whatever no page gave. */
export function readCursor(list: string, cursor: string): string {
  const place = Buffer.from(cursor, 'base64url').subarray(CHECK_BYTES).toString('utf8')
  if (place === '' || writeCursor(list, place) !== cursor) throw badCursor()
  return place
}

export function badCursor() {
  return refuseFields([{ in: 'query', path: 'cursor', message: 'does not come from an earlier page' }])
}

/** No secret: a slip is to be seen, and nothing opens with a cursor. */
function checkOf(list: string, place: string): Buffer {
  return createHash('sha256').update(`${list}\n${place}`, 'utf8').digest().subarray(0, CHECK_BYTES)
}
