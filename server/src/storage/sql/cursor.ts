/** Where a page ended, as an opaque text: the time and the id of its last row. */
import type { Transfer } from '../../core/ledger/hot-rows.ts'
import { InvalidCursor } from '../failures/invalid-cursor.ts'

export interface Place {
  readonly at: number
  readonly id: string
}

export function encodeCursor({ at, id }: Place): string {
  return Buffer.from(`${at}:${id}`).toString('base64url')
}

export function decodeCursor(cursor: string): Place {
  const text = Buffer.from(cursor, 'base64url').toString('utf8')
  const match = /^(\d{1,15}):(.{1,200})$/s.exec(text)
  const [, at, id] = match ?? []
  if (at === undefined || id === undefined) throw new InvalidCursor()
  return { at: Number(at), id }
}

/** Where a statement continues after this transfer. */
export function transferCursor({ at, transactionId, sequence }: Transfer): string {
  return encodeCursor({ at, id: `${transactionId}#${sequence}` })
}
