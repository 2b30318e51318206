/** Ogg (RFC 3533): pages of several streams, packets over several pages, and concatenated files. */
import { flacPackets, flacRate, opusSeconds, type PacketSeconds, vorbisPackets } from './packet-seconds.ts'
import { type Heard, latin1, PACKETS_MAX, type Read, viewOf } from './sound-file.ts'

const PAGE_HEAD_BYTES = 27
const SEGMENTS_MAX = 255
const FIRST_PAGE = 2
/** Headers of codecs are far smaller. */
const HEADER_BYTES_MAX = 1_048_576
/** The part of a packet that determines its duration. */
const PACKET_HEAD_BYTES = 32
/** Limit for concatenated streams. */
const STREAMS_MAX = 2_000

interface Page {
  readonly isFirst: boolean
  readonly serial: number
  readonly segments: Uint8Array
  readonly headBytes: number
  readonly bytes: number
}

/**
 * All sound of all its streams. Data between pages is skipped, as players do; they do not agree about pages with a wrong
 * checksum.
 */
export function hearOgg(read: Read, size: number): Heard {
  const [strict, lenient] = [hearPages(read, size, isWhole), hearPages(read, size, () => true)]
  const heard = strict.seconds > lenient.seconds ? strict : lenient
  if (heard.packets === 0) throw new Error('there is no sound in it')
  return heard
}

function hearPages(read: Read, size: number, isPage: (page: Uint8Array) => boolean): Heard {
  const streams = new Map<number, OggStream>()
  const ended: OggStream[] = []
  let [bytes, segments, at] = [0, 0, 0]
  while (at < size) {
    const page = pageAt(read, at)
    const whole = page === undefined ? undefined : read(at, at + page.bytes)
    if (page === undefined || whole === undefined || !isPage(whole)) {
      at = nextPage(read, at + 1, size)
      continue
    }
    let stream = streams.get(page.serial)
    if (stream === undefined || (page.isFirst && stream.packets > 0)) {
      if (stream !== undefined) ended.push(stream)
      stream = new OggStream()
      streams.set(page.serial, stream)
      if (streams.size + ended.length > STREAMS_MAX) throw new Error('it is made of too many files')
    }
    stream.take(page.segments, whole.subarray(page.headBytes))
    bytes += Math.min(page.bytes, size - at)
    segments += page.segments.byteLength
    if (segments > PACKETS_MAX) throw new Error('it has too many packets')
    at += page.bytes
  }
  const sound = [...ended, ...streams.values()].filter((stream) => stream.isSound)
  const packets = sound.reduce((sum, stream) => sum + stream.packets, 0)
  const seconds = sound.reduce((sum, stream) => sum + stream.seconds, 0)
  return { seconds, bytes, packets }
}

const CHECKSUM_AT = 22
const CHECKSUM_BYTES = 4
const POLYNOMIAL = 0x04c1_1db7
const CHECKSUMS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24
  for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ (crc < 0 ? POLYNOMIAL : 0)
  return crc
})

/** The checksum is that of the page with zeros in its place. */
function isWhole(page: Uint8Array): boolean {
  let crc = 0
  for (let at = 0; at < page.byteLength; at += 1) {
    const isChecksum = at >= CHECKSUM_AT && at < CHECKSUM_AT + CHECKSUM_BYTES
    crc = (crc << 8) ^ (CHECKSUMS[(crc >>> 24) ^ (isChecksum ? 0 : (page[at] ?? 0))] ?? 0)
  }
  return viewOf(page).getUint32(CHECKSUM_AT, true) === crc >>> 0
}

const SEARCH_BYTES = 65_536

function nextPage(read: Read, from: number, size: number): number {
  for (let at = from; at < size; at += SEARCH_BYTES) {
    const found = Buffer.from(read(at, Math.min(at + SEARCH_BYTES + 3, size))).indexOf('OggS', 0, 'latin1')
    if (found >= 0) return at + found
  }
  return size
}

function pageAt(read: Read, at: number): Page | undefined {
  const head = read(at, at + PAGE_HEAD_BYTES + SEGMENTS_MAX)
  const count = head[26]
  if (count === undefined || latin1(head.subarray(0, 4)) !== 'OggS') return undefined
  const segments = head.subarray(PAGE_HEAD_BYTES, PAGE_HEAD_BYTES + count)
  const headBytes = PAGE_HEAD_BYTES + count
  return {
    isFirst: ((head[5] ?? 0) & FIRST_PAGE) !== 0,
    serial: viewOf(head).getUint32(14, true),
    segments,
    headBytes,
    bytes: segments.reduce((sum, segment) => sum + segment, headBytes),
  }
}

class OggStream {
  packets = 0
  seconds = 0
  #codec: OggCodec | undefined
  readonly #headers: Uint8Array[] = []
  #secondsOf: PacketSeconds | undefined
  #pieces: Uint8Array[] = []
  #length = 0

  get isSound(): boolean {
    return this.#codec !== undefined
  }

  take(segments: Uint8Array, body: Uint8Array): void {
    let at = 0
    for (const segment of segments) {
      this.#keep(body.subarray(at, at + segment))
      at += segment
      if (segment < SEGMENTS_MAX) this.#end()
    }
  }

  #keep(piece: Uint8Array): void {
    const isHeader = this.packets < (this.#codec?.headers ?? 1)
    const bound = isHeader ? HEADER_BYTES_MAX : PACKET_HEAD_BYTES
    if (this.#length < bound) this.#pieces.push(piece.subarray(0, bound - this.#length))
    this.#length += piece.byteLength
  }

  #end(): void {
    const packet = Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#length = 0
    if (this.packets === 0) this.#codec = codecOf(packet)
    this.packets += 1
    const codec = this.#codec
    if (codec === undefined) return
    if (this.packets <= codec.headers) {
      this.#headers.push(packet)
      return
    }
    this.#secondsOf ??= codec.packetsOf(this.#headers)
    this.seconds += this.#secondsOf(packet)
  }
}

interface OggCodec {
  /** Number of packets before the sound. */
  readonly headers: number
  readonly packetsOf: (headers: readonly Uint8Array[]) => PacketSeconds
}

/** undefined: not a known sound codec. */
function codecOf(first: Uint8Array): OggCodec | undefined {
  const begin = latin1(first.subarray(0, 8))
  if (begin === 'OpusHead') return { headers: 2, packetsOf: () => opusSeconds }
  if (begin.startsWith('\u0001vorbis')) return { headers: 3, packetsOf: vorbisPackets }
  if (begin.startsWith('\u007fFLAC')) {
    // The first header says how many follow; they are not frames and have no duration.
    return { headers: 1, packetsOf: ([head]) => flacPackets(flacRate(head) ?? 0) }
  }
  if (begin.startsWith('Speex')) return { headers: 2, packetsOf: ([head]) => speexPackets(head) }
  return undefined
}

const SPEEX_RATE_AT = 36
const SPEEX_FRAMES_AT = 64
const SPEEX_FRAME_SECONDS = 0.02
/** Samples of the narrowest band; each wider one has twice as many at twice the rate. */
const SPEEX_SAMPLES = 160

/** A frame takes twenty milliseconds, or longer if the stated rate is lower than that of its band. */
function speexPackets(head: Uint8Array | undefined): PacketSeconds {
  if (head === undefined || head.byteLength < SPEEX_FRAMES_AT + 4) throw new Error('its Speex has no header')
  const view = viewOf(head)
  const rate = view.getUint32(SPEEX_RATE_AT, true)
  const samples = SPEEX_SAMPLES << Math.min(2, view.getUint32(SPEEX_RATE_AT + 4, true))
  const each = Math.max(SPEEX_FRAME_SECONDS, rate === 0 ? 0 : samples / rate)
  const seconds = each * Math.max(1, view.getUint32(SPEEX_FRAMES_AT, true))
  return () => seconds
}
