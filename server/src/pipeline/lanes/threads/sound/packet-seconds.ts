/**
 * The duration of a packet, by its content: the times in the file are not trusted, because the client could set them.
 */
import { AAC_RATES, AAC_SAMPLES, adtsFrameAt, flacFrameAt, framesIn, mpegFrameAt } from './frame-scan.ts'
import { latin1, viewOf } from './sound-file.ts'

export type PacketSeconds = (packet: Uint8Array) => number

/** A codec's settings from its container; its rate if the codec data has none. */
export interface CodecSettings {
  readonly description: Uint8Array | undefined
  readonly rate: number
}

/** undefined: the duration of its packets is unknown. */
export function packetSeconds(codec: string | null, settings: CodecSettings): PacketSeconds | undefined {
  switch (codec) {
    case 'opus':
      return opusSeconds
    case 'mp3':
      return (packet) => framesIn(packet, mpegFrameAt)
    case 'aac':
      return aacPackets(settings)
    case 'flac':
      return flacPackets(flacRate(settings.description) ?? settings.rate)
    case 'vorbis':
      return vorbisPackets(xiphHeaders(settings.description ?? new Uint8Array()))
    case null:
    default:
      return undefined
  }
}

/** Milliseconds of a frame by the header of its packet (RFC 6716 §3.1). */
const OPUS_SILK_MS = [10, 20, 40, 60]
const OPUS_HYBRID_MS = [10, 20]
const OPUS_CELT_MS = [2.5, 5, 10, 20]

export const opusSeconds: PacketSeconds = (packet) => {
  const [head = 0, count = 0] = packet
  const config = head >> 3
  const ms =
    config < 12
      ? OPUS_SILK_MS[config & 3]
      : config < 16
        ? OPUS_HYBRID_MS[config & 1]
        : OPUS_CELT_MS[config & 3]
  const code = head & 3
  const frames = code === 0 ? 1 : code === 3 ? count & 0x3f : 2
  return ((ms ?? 0) * frames) / 1_000
}

const EXPLICIT_RATE = 15

/** AudioSpecificConfig (ISO 14496-3): extensions that double the rate do not change the duration. */
function aacPackets({ description, rate }: CodecSettings): PacketSeconds {
  const bits = description === undefined ? undefined : new BitReader(description)
  if (bits?.read(5) === 31) bits.read(6)
  const index = bits?.read(4)
  const own = index === EXPLICIT_RATE ? bits?.read(24) : AAC_RATES[index ?? EXPLICIT_RATE]
  const seconds = AAC_SAMPLES / (own === undefined || own === 0 ? rate : own)
  // Some packets have headers of their own, which take precedence.
  return (packet) => Math.max(seconds, adtsFrameAt(packet, 0)?.seconds ?? 0)
}

/** A packet begins with a frame; nothing after the header is another. */
export function flacPackets(rate: number): PacketSeconds {
  const frameAt = flacFrameAt(rate)
  return (packet) => frameAt(packet, 0)?.seconds ?? 0
}

const FLAC_RATE_AT = 18

/** The rate in STREAMINFO, which follows `fLaC` and the block's header. */
export function flacRate(head: Uint8Array | undefined): number | undefined {
  const at = head === undefined ? -1 : latin1(head.subarray(0, 64)).indexOf('fLaC')
  if (head === undefined || at < 0 || head.byteLength < at + FLAC_RATE_AT + 4) return undefined
  const rate = viewOf(head).getUint32(at + FLAC_RATE_AT) >>> 12
  return rate === 0 ? undefined : rate
}

/** Three headers in one; the lengths of the first two precede them, as sums of bytes up to 255. */
function xiphHeaders(all: Uint8Array): readonly Uint8Array[] {
  const lengths: number[] = []
  let at = 1
  for (let header = 0; header < 2; header += 1) {
    let length = 0
    let byte = 0xff
    while (byte === 0xff && at < all.byteLength) {
      byte = all[at] ?? 0
      length += byte
      at += 1
    }
    lengths.push(length)
  }
  const [first = 0, second = 0] = lengths
  return [
    all.subarray(at, at + first),
    all.subarray(at + first, at + first + second),
    all.subarray(at + first + second),
  ]
}

const VORBIS_RATE_AT = 12
const VORBIS_SIZES_AT = 28
const MODES_MAX = 64
const MODE_BITS = 41

/**
 * A Vorbis I packet plays half of its block, whose mode selects one of two sizes. Modes are at the end of the third
 * header, after tables that only a decoder needs to understand, so they are read backwards from the end; if that is
 * possible with several numbers of modes, the longest duration counts.
 */
export function vorbisPackets([first, , setup]: readonly (Uint8Array | undefined)[]): PacketSeconds {
  if (first === undefined || setup === undefined || first.byteLength <= VORBIS_SIZES_AT)
    throw new Error('its Vorbis has no header')
  const rate = viewOf(first).getUint32(VORBIS_RATE_AT, true)
  const sizes = first[VORBIS_SIZES_AT] ?? 0
  const [short, long] = [2 ** (sizes & 15), 2 ** (sizes >> 4)]
  if (rate === 0) throw new Error('its Vorbis has no rate')
  const tables = modeTables(setup)
  if (tables.length === 0) throw new Error('its Vorbis has no modes')
  return ([head = 0]) => {
    if ((head & 1) === 1) return 0
    const isLong = tables.some((modes) => modes[(head >> 1) & modeMask(modes.length)] ?? true)
    return (isLong ? long : short) / 2 / rate
  }
}

function modeMask(modes: number): number {
  return 2 ** (32 - Math.clz32(modes - 1)) - 1
}

/** For every possible number of modes at the end of the header: whether each mode has long blocks. */
function modeTables(setup: Uint8Array): readonly (readonly boolean[])[] {
  const bitAt = (at: number) => ((setup[at >> 3] ?? 0) >> (at & 7)) & 1
  const numberAt = (at: number, bits: number) => {
    let value = 0
    for (let bit = bits - 1; bit >= 0; bit -= 1) value = value * 2 + bitAt(at + bit)
    return value
  }
  let end = setup.byteLength * 8 - 1
  while (end > 0 && bitAt(end) === 0) end -= 1
  const tables: (readonly boolean[])[] = []
  const modes: boolean[] = []
  // A mode: whether its blocks are long, two numbers of 16 bits that are always 0, and the number of its mapping.
  for (let at = end - MODE_BITS; at >= 6 && modes.length < MODES_MAX; at -= MODE_BITS) {
    if (numberAt(at + 1, 16) !== 0 || numberAt(at + 17, 16) !== 0 || numberAt(at + 33, 8) > 63) break
    modes.unshift(bitAt(at) === 1)
    if (numberAt(at - 6, 6) + 1 === modes.length) tables.push([...modes])
  }
  return tables
}

class BitReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Most significant bit first. */
  read(bits: number): number {
    let value = 0
    for (let bit = 0; bit < bits; bit += 1, this.#at += 1)
      value = value * 2 + (((this.#bytes[this.#at >> 3] ?? 0) >> (7 - (this.#at & 7))) & 1)
    return value
  }
}
