/** What all readers of sound have in common: reading bytes of a file, and skipping tags. */

/** Reads bytes of a file; `end` may be beyond its end. */
export type Read = (start: number, end: number) => Uint8Array

/** The sound found in a file: its duration, its bytes and its number of packets. */
export interface Heard {
  readonly seconds: number
  readonly bytes: number
  readonly packets: number
}

/** Eleven hours at twenty milliseconds each; more would only keep a thread busy. */
export const PACKETS_MAX = 2_000_000

export function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

const ID3_HEAD_BYTES = 10
const ID3_FOOTER = 0x10

/** The end of consecutive ID3v2 tags at the beginning; sizes have seven bits per byte. */
export function id3End(read: Read, size: number): number {
  let at = 0
  while (at + ID3_HEAD_BYTES <= size) {
    const head = read(at, at + ID3_HEAD_BYTES)
    const [, , , version = 0xff, revision = 0xff, flags = 0, ...sizes] = head
    const isOne = latin1(head.subarray(0, 3)) === 'ID3' && version !== 0xff && revision !== 0xff
    if (!isOne || sizes.some((byte) => byte >= 0x80)) return at
    const length = sizes.reduce((sum, byte) => sum * 128 + byte, 0)
    at += ID3_HEAD_BYTES + length + ((flags & ID3_FOOTER) === 0 ? 0 : ID3_HEAD_BYTES)
  }
  return Math.min(at, size)
}

const LAST_BLOCK = 0x80

/** The end of the metadata blocks of a FLAC file whose marker is at `from` (RFC 9639 §8.1). */
export function flacHeadEnd(read: Read, size: number, from: number): number {
  let at = from + 4
  while (at + 4 <= size) {
    const [kind = LAST_BLOCK, high = 0, middle = 0, low = 0] = read(at, at + 4)
    at += 4 + high * 65_536 + middle * 256 + low
    if ((kind & LAST_BLOCK) !== 0) break
  }
  return Math.min(at, size)
}
