/** What of a file is no sound, though it belongs to it: tags, and the heads of pages. Also where Ogg begins anew. */

/** Bytes of a file; `end` may lie behind it. */
export type Read = (start: number, end: number) => Uint8Array

/** One Ogg file (RFC 3533); several may stand one behind the other. */
export interface OggChain {
  readonly start: number
  readonly end: number
  /** Of its pages' heads. */
  readonly headBytes: number
  /** Of the packets before its sound: what it is, its tags, and for Vorbis its tables. */
  readonly tagBytes: number
}

const PAGE_HEAD_BYTES = 27
const SEGMENTS_MAX = 255
const FIRST_PAGE = 2
const FIRST_OF_VORBIS = '\u0001vorbis'

interface Page {
  readonly isFirst: boolean
  readonly serial: number
  readonly segments: Uint8Array
  readonly headBytes: number
  readonly bytes: number
}

/** None: it is no Ogg file. What is no page belongs to the file before it. */
export function chainsOf(read: Read, size: number): readonly OggChain[] {
  const chains: OggChain[] = []
  let open: ChainReading | undefined
  let at = 0
  for (let page = pageAt(read, at); page !== undefined; page = at < size ? pageAt(read, at) : undefined) {
    if (open === undefined || (page.isFirst && open.hasBegun)) {
      if (open !== undefined) chains.push(open.chain(at))
      open = new ChainReading(at, page.serial, latin1(read(at + page.headBytes, at + page.headBytes + 7)))
    }
    open.take(page)
    at += page.bytes
  }
  if (open !== undefined) chains.push(open.chain(size))
  return chains
}

class ChainReading {
  /** All first pages of a file stand before any other. */
  hasBegun = false
  readonly #start: number
  readonly #serial: number
  #headPackets: number
  #headBytes = 0
  #tagBytes = 0

  constructor(start: number, serial: number, begin: string) {
    this.#start = start
    this.#serial = serial
    this.#headPackets = begin === FIRST_OF_VORBIS ? 3 : 2
  }

  take(page: Page): void {
    if (!page.isFirst) this.hasBegun = true
    this.#headBytes += page.headBytes
    if (page.serial !== this.#serial) return
    for (const segment of page.segments) {
      if (this.#headPackets === 0) return
      this.#tagBytes += segment
      if (segment < SEGMENTS_MAX) this.#headPackets -= 1
    }
  }

  chain(end: number): OggChain {
    return { start: this.#start, end, headBytes: this.#headBytes, tagBytes: this.#tagBytes }
  }
}

function pageAt(read: Read, at: number): Page | undefined {
  const head = read(at, at + PAGE_HEAD_BYTES + SEGMENTS_MAX)
  const count = head[26]
  if (count === undefined || latin1(head.subarray(0, 4)) !== 'OggS') return undefined
  const segments = head.subarray(PAGE_HEAD_BYTES, PAGE_HEAD_BYTES + count)
  const headBytes = PAGE_HEAD_BYTES + count
  return {
    isFirst: ((head[5] ?? 0) & FIRST_PAGE) !== 0,
    serial: new DataView(head.buffer, head.byteOffset).getUint32(14, true),
    segments,
    headBytes,
    bytes: segments.reduce((sum, segment) => sum + segment, headBytes),
  }
}

/** Bytes that no player takes for sound. */
export function tagBytesOf(read: Read, size: number, chain: OggChain | undefined): number {
  if (chain !== undefined) return chain.headBytes + chain.tagBytes
  const at = id3Bytes(read, size)
  return latin1(read(at, at + 4)) === 'fLaC' ? flacHeadEnd(read, size, at + 4) : at
}

const ID3_HEAD_BYTES = 10
const ID3_FOOTER = 0x10

/** Tags of ID3v2, one behind the other; a size has seven bits a byte. */
function id3Bytes(read: Read, size: number): number {
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

/** RFC 9639 §8.1. */
function flacHeadEnd(read: Read, size: number, from: number): number {
  let at = from
  while (at + 4 <= size) {
    const [kind = LAST_BLOCK, high = 0, middle = 0, low = 0] = read(at, at + 4)
    at += 4 + high * 65_536 + middle * 256 + low
    if ((kind & LAST_BLOCK) !== 0) break
  }
  return Math.min(at, size)
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}
