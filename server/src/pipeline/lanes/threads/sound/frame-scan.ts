/**
 * Sound that consists of frames only, one after the other, each with its own header. Players skip other bytes to find the
 * next frame, so the whole file is searched, and every frame counts by its own header.
 */
import { type Heard, latin1, PACKETS_MAX, type Read, viewOf } from './sound-file.ts'

/** The frame that begins at `at`; undefined: there is none. */
export type FrameAt = (bytes: Uint8Array, at: number) => Frame | undefined

export interface Frame {
  /** Distance to the next frame, at least 1. */
  readonly bytes: number
  readonly seconds: number
  /** The same in all frames that players treat as one stream. */
  readonly kind: number
}

export interface Scanned {
  readonly from: number
  readonly to: number
  /** The byte that every frame begins with; undefined: there is none. */
  readonly first: number | undefined
}

/** First byte of MPEG audio, ADTS and FLAC frames. */
export const SYNC = 0xff

/** Read at a time, plus the length of the longest header. */
const PIECE_BYTES = 1_048_576
const HEAD_BYTES_MAX = 16

/** A frame without a successor counts, and its bytes are searched for others: players resynchronise within it. */
export function scanFrames(read: Read, { from, to, first }: Scanned, frameAt: FrameAt): Heard {
  let [seconds, bytes, packets] = [0, 0, 0]
  let at = from
  while (at < to) {
    const start = at
    const piece = read(start, Math.min(start + PIECE_BYTES + HEAD_BYTES_MAX, to))
    const end = Math.min(start + PIECE_BYTES, to)
    const follows = ({ bytes: length, kind }: Frame): boolean => {
      const next = at + length
      if (next >= to) return true
      if (next < end) return frameAt(piece, next - start)?.kind === kind
      return frameAt(read(next, Math.min(next + HEAD_BYTES_MAX, to)), 0)?.kind === kind
    }
    while (at < end) {
      const here = at - start
      const found = first === undefined || piece[here] === first ? here : piece.indexOf(first, here)
      at = found < 0 ? end : Math.min(start + found, end)
      if (at === end) break
      const frame = frameAt(piece, at - start)
      const length = frame !== undefined && follows(frame) ? frame.bytes : undefined
      if (frame !== undefined) {
        seconds += frame.seconds
        packets += 1
        if (packets > PACKETS_MAX) throw new Error('it has too many packets')
      }
      bytes += length === undefined ? 0 : Math.min(length, to - at)
      at += length ?? 1
    }
  }
  return { seconds, bytes, packets }
}

/** The same for a packet. */
export function framesIn(packet: Uint8Array, frameAt: FrameAt): number {
  return scanFrames(
    (start, end) => packet.subarray(start, end),
    { from: 0, to: packet.byteLength, first: SYNC },
    frameAt,
  ).seconds
}

/** Bit rates by layer I, II and III: those of MPEG 1, and of MPEG 2 and 2.5. */
const KBITS = [
  [
    [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  ],
  [
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  ],
] as const
const MPEG_RATES = [44_100, 48_000, 32_000]
const TABLES = /^(?:Xing|Info)/

/** MPEG audio (ISO 11172-3, 13818-3), of any layer. */
export const mpegFrameAt: FrameAt = (data, at) => {
  const second = data[at + 1] ?? 0
  if (data[at] !== SYNC || (second & 0xe0) !== 0xe0) return undefined
  const third = data[at + 2] ?? 0
  const version = (second >> 3) & 3
  const layer = 3 - ((second >> 1) & 3)
  const fullRate = MPEG_RATES[(third >> 2) & 3]
  if (version === 1 || layer === 3 || fullRate === undefined) return undefined
  const isFirst = version === 3
  const rate = fullRate / (isFirst ? 1 : version === 2 ? 2 : 4)
  const kbits = KBITS[isFirst ? 0 : 1][layer as 0 | 1 | 2][third >> 4]
  if (kbits === undefined || kbits === 0) return undefined
  const samples = layer === 0 ? 384 : layer === 2 && !isFirst ? 576 : 1_152
  const slot = layer === 0 ? 4 : 1
  const slots = Math.floor(((samples / 8) * kbits * 1_000) / rate / slot) + ((third >> 1) & 1)
  const bytes = slots * slot
  return { bytes, seconds: samples / rate, kind: (second & 0x1e) | ((third & 0x0c) << 8) }
}

/** Where the sound begins: the first frame of a file may be a table of the others, which no player plays. */
export function mpegSoundStart(read: Read, from: number): number {
  const head = read(from, from + 40)
  const frame = mpegFrameAt(head, 0)
  if (frame === undefined) return from
  const isFirst = ((head[1] ?? 0) & 0x08) !== 0
  const isMono = ((head[3] ?? 0) & 0xc0) === 0xc0
  const table = 4 + (isFirst ? (isMono ? 17 : 32) : isMono ? 9 : 17)
  return TABLES.test(latin1(head.subarray(table, table + 4))) ? from + frame.bytes : from
}

export const AAC_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
]
export const AAC_SAMPLES = 1_024
const ADTS_HEAD_BYTES = 7

/** AAC in ADTS (ISO 13818-7). */
export const adtsFrameAt: FrameAt = (data, at) => {
  if (data[at] !== SYNC || ((data[at + 1] ?? 0) & 0xf6) !== 0xf0) return undefined
  const [third = 0, fourth = 0, fifth = 0, sixth = 0, seventh] = data.subarray(at + 2, at + 7)
  const rate = AAC_RATES[(third >> 2) & 15]
  const bytes = ((fourth & 3) << 11) | (fifth << 3) | (sixth >> 5)
  if (seventh === undefined || rate === undefined || bytes < ADTS_HEAD_BYTES) return undefined
  return { bytes, seconds: (((seventh & 3) + 1) * AAC_SAMPLES) / rate, kind: 0 }
}

const AMR_SECONDS = 0.02
const AMR_BYTES = [13, 14, 16, 18, 20, 21, 27, 32, 6, 1, 1, 1, 1, 1, 1, 1]
const AMR_WB_BYTES = [18, 24, 33, 37, 41, 47, 51, 59, 61, 6, 1, 1, 1, 1, 1, 1]

/** AMR in files and packets (RFC 4867 §5.3): any byte at a frame's position begins a frame, silence included. */
export function amrFrameAt(isWide: boolean): FrameAt {
  const sizes = isWide ? AMR_WB_BYTES : AMR_BYTES
  return (data, at) => ({ bytes: sizes[((data[at] ?? 0) >> 3) & 15] ?? 1, seconds: AMR_SECONDS, kind: 0 })
}

const FLAC_RATES = [
  0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000,
]

/**
 * FLAC (RFC 9639 §9.1). The header does not contain the frame's length; a checksum distinguishes a frame from bytes
 * that only look like one.
 */
export function flacFrameAt(streamRate: number): FrameAt {
  return (data, at) => {
    if (data[at] !== SYNC || ((data[at + 1] ?? 0) & 0xfe) !== 0xf8) return undefined
    const [third = 0, fourth = 0, number = 0] = data.subarray(at + 2, at + 5)
    const sizeCode = third >> 4
    const rateCode = third & 15
    if (sizeCode === 0 || rateCode === 15 || (fourth & 1) === 1 || fourth >> 4 > 10) return undefined
    const head = viewOf(data.subarray(at, at + HEAD_BYTES_MAX))
    let end = 4 + codedBytes(number)
    if (end + 5 > head.byteLength) return undefined
    let samples = sizeCode === 1 ? 192 : sizeCode < 6 ? 576 << (sizeCode - 2) : 256 << (sizeCode - 8)
    if (sizeCode === 6) samples = head.getUint8(end) + 1
    if (sizeCode === 7) samples = head.getUint16(end) + 1
    end += sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0
    let rate = FLAC_RATES[rateCode] ?? 0
    if (rateCode === 0) rate = streamRate
    if (rateCode === 12) rate = head.getUint8(end) * 1_000
    if (rateCode > 12) rate = head.getUint16(end) * (rateCode === 14 ? 10 : 1)
    end += rateCode === 12 ? 1 : rateCode > 12 ? 2 : 0
    if (rate === 0 || crc8(data.subarray(at, at + end)) !== data[at + end]) return undefined
    return { bytes: 1, seconds: samples / rate, kind: 0 }
  }
}

/** Length of a number encoded like a UTF-8 character. */
function codedBytes(first: number): number {
  return first < 0x80 ? 1 : Math.max(1, Math.clz32(~first << 24))
}

function crc8(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ ((crc & 0x80) === 0 ? 0 : 0x07)) & 0xff
  }
  return crc
}
