/** Edit lists of MP4 files (ISO 14496-12): players play what the lists say, possibly the same sound several times. */
import { latin1, type Read, viewOf } from './sound-file.ts'

const BOX_HEAD_BYTES = 8
const LARGE_BOX_HEAD_BYTES = 16
/** Boxes that contain the path to an edit list. */
const HOLDERS: ReadonlySet<string> = new Set(['moov', 'trak', 'edts'])
const BOXES_MAX = 100_000
/** Media time of an empty entry: silence before the sound begins. */
const EMPTY = -1

interface Found {
  /** Units per second, of the whole file. */
  timescale: number
  /** Length of each list, in these units. */
  readonly lengths: number[]
  boxes: number
}

/** Length of the longest list, seconds; 0: there is none. */
export function editedSeconds(read: Read, size: number): number {
  const found: Found = { timescale: 0, lengths: [], boxes: 0 }
  walkBoxes(read, { start: 0, end: size }, found)
  if (found.lengths.length === 0) return 0
  if (found.timescale === 0) throw new Error('its edit list has no unit')
  return Math.max(...found.lengths) / found.timescale
}

function walkBoxes(
  read: Read,
  { start, end }: { readonly start: number; readonly end: number },
  found: Found,
): void {
  let at = start
  while (at + BOX_HEAD_BYTES <= end) {
    found.boxes += 1
    if (found.boxes > BOXES_MAX) throw new Error('it has too many boxes')
    const head = viewOf(read(at, Math.min(at + LARGE_BOX_HEAD_BYTES, end)))
    const short = head.getUint32(0)
    const isLarge = short === 1 && head.byteLength === LARGE_BOX_HEAD_BYTES
    const headBytes = isLarge ? LARGE_BOX_HEAD_BYTES : BOX_HEAD_BYTES
    const told = isLarge ? Number(head.getBigUint64(BOX_HEAD_BYTES)) : short
    const boxEnd = short === 0 ? end : Math.min(at + told, end)
    if (boxEnd < at + headBytes) return
    const type = latin1(read(at + 4, at + 8))
    const inside = { start: at + headBytes, end: boxEnd }
    if (HOLDERS.has(type)) walkBoxes(read, inside, found)
    else if (type === 'mvhd') found.timescale = timescaleIn(read(inside.start, inside.end))
    else if (type === 'elst') found.lengths.push(lengthIn(read(inside.start, inside.end)))
    at = boxEnd
  }
}

function timescaleIn(box: Uint8Array): number {
  const at = box[0] === 1 ? 20 : 12
  return box.byteLength < at + 4 ? 0 : viewOf(box).getUint32(at)
}

function lengthIn(box: Uint8Array): number {
  const view = viewOf(box)
  if (view.byteLength < 8) return 0
  const isLong = view.getUint8(0) === 1
  const entryBytes = isLong ? 20 : 12
  const entries = Math.min(view.getUint32(4), Math.floor((view.byteLength - 8) / entryBytes))
  let length = 0
  for (let entry = 0; entry < entries; entry += 1) {
    const at = 8 + entry * entryBytes
    const starts = isLong ? Number(view.getBigInt64(at + 8)) : view.getInt32(at + 4)
    if (starts !== EMPTY) length += isLong ? Number(view.getBigUint64(at)) : view.getUint32(at)
  }
  return length
}
