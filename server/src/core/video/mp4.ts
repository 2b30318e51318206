/**
 * The length of a finished video, read from its own header as the bytes pass (ISO 14496-12: `moov/mvhd`,
 * `moov/trak/tkhd`). Boxes are skipped without being kept, except `moov`, wherever it is. Other kinds of files yield no
 * result and cost nothing.
 */
export interface VideoMeasure {
  readonly seconds: number | undefined
  readonly width: number | undefined
  readonly height: number | undefined
}

/** A `moov` of an hour of video is about 2 MB. */
const MOOV_BYTES_MAX = 16 * 1024 * 1024
const HEAD_BYTES = 16

const NOTHING: VideoMeasure = { seconds: undefined, width: undefined, height: undefined }

export class Mp4Reader {
  /** Bytes of the current box's header, then, for a `moov`, its body. */
  #held: Uint8Array = new Uint8Array(0)
  /** Bytes of the current box still to be skipped. */
  #skip = 0
  #moov: Uint8Array | undefined
  #over = false

  /** Nothing that follows can change the result. */
  get over(): boolean {
    return this.#over
  }

  push(chunk: Uint8Array): void {
    let rest = chunk
    while (!this.#over && rest.byteLength > 0) rest = this.#take(rest)
  }

  end(): VideoMeasure {
    return this.#moov === undefined ? NOTHING : measure(this.#moov)
  }

  /** Takes what one step needs and returns the rest. */
  #take(chunk: Uint8Array): Uint8Array {
    if (this.#skip > 0) {
      const stepped = Math.min(this.#skip, chunk.byteLength)
      this.#skip -= stepped
      return chunk.subarray(stepped)
    }
    const before = this.#held.byteLength
    const wanted = wantedBytes(this.#held)
    const taken = Math.min(wanted - before, chunk.byteLength)
    this.#held = joined(this.#held, chunk.subarray(0, taken), wanted)
    if (this.#held.byteLength === wantedBytes(this.#held)) this.#step()
    return chunk.subarray(taken)
  }

  /** The header of a box, or a whole `moov`, is complete. */
  #step(): void {
    const box = headOf(this.#held, 0)
    if (box === undefined || box.size < box.headBytes) {
      this.#over = true
      return
    }
    if (box.type === 'moov') {
      // A `moov` that is incomplete here is too long to be read.
      if (this.#held.byteLength === box.size) this.#moov = this.#held.subarray(box.headBytes)
      this.#over = true
      return
    }
    this.#skip = box.size - this.#held.byteLength
    this.#held = new Uint8Array(0)
  }
}

/** How many bytes are needed before the next step: a header, or a whole `moov` within the limit. */
function wantedBytes(held: Uint8Array): number {
  if (held.byteLength < 8) return 8
  const box = headOf(held, 0)
  if (box === undefined) return HEAD_BYTES
  return box.type === 'moov' && box.size <= MOOV_BYTES_MAX ? Math.max(box.size, 8) : box.headBytes
}

/** Grows by copying into one buffer of the wanted size: a long `moov` arrives in many chunks. */
function joined(held: Uint8Array, more: Uint8Array, wanted: number): Uint8Array {
  if (held.buffer.byteLength >= held.byteOffset + wanted && held.byteOffset === 0) {
    const grown = new Uint8Array(held.buffer, 0, held.byteLength + more.byteLength)
    grown.set(more, held.byteLength)
    return grown
  }
  const buffer = new Uint8Array(Math.max(wanted, held.byteLength + more.byteLength))
  buffer.set(held)
  buffer.set(more, held.byteLength)
  return buffer.subarray(0, held.byteLength + more.byteLength)
}

interface BoxHead {
  readonly type: string
  /** Size of the whole box. 0 in the file means: to its end. */
  readonly size: number
  readonly headBytes: number
}

/** undefined: the header is not complete yet. */
function headOf(bytes: Uint8Array, at: number): BoxHead | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (at + 8 > bytes.byteLength) return undefined
  const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8))
  const short = view.getUint32(at)
  if (short === 0) return { type, size: Number.MAX_SAFE_INTEGER, headBytes: 8 }
  if (short !== 1) return { type, size: short, headBytes: 8 }
  if (at + 16 > bytes.byteLength) return undefined
  const size = view.getUint32(at + 8) * 2 ** 32 + view.getUint32(at + 12)
  return { type, size: Math.min(size, Number.MAX_SAFE_INTEGER), headBytes: 16 }
}

function measure(moov: Uint8Array): VideoMeasure {
  let seconds: number | undefined
  let picture: Pick<VideoMeasure, 'width' | 'height'> = NOTHING
  for (const { type, body } of boxesOf(moov)) {
    if (type === 'mvhd') seconds = secondsOf(body)
    if (type === 'trak' && picture.width === undefined) {
      for (const inner of boxesOf(body)) if (inner.type === 'tkhd') picture = pictureOf(inner.body)
    }
  }
  return { seconds, ...picture }
}

function* boxesOf(bytes: Uint8Array): Generator<{ readonly type: string; readonly body: Uint8Array }> {
  let at = 0
  for (;;) {
    const box = headOf(bytes, at)
    if (box === undefined || box.size < box.headBytes) return
    yield { type: box.type, body: bytes.subarray(at + box.headBytes, at + box.size) }
    at += box.size
    if (at >= bytes.byteLength) return
  }
}

/** Version 1 has 64-bit times; a duration of all ones means unknown. */
function secondsOf(body: Uint8Array): number | undefined {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  const wide = body[0] === 1
  const at = wide ? 20 : 12
  if (body.byteLength < at + (wide ? 12 : 8)) return undefined
  const scale = view.getUint32(at)
  const high = wide ? view.getUint32(at + 4) : 0
  const low = view.getUint32(at + (wide ? 8 : 4))
  const unknown = low === 0xffffffff && (!wide || high === 0xffffffff)
  if (scale === 0 || unknown) return undefined
  const seconds = (high * 2 ** 32 + low) / scale
  return seconds > 0 ? seconds : undefined
}

/** 16.16 fixed point, the last eight bytes; sound has no picture. */
function pictureOf(body: Uint8Array): Pick<VideoMeasure, 'width' | 'height'> {
  const bytes = body[0] === 1 ? 96 : 84
  if (body.byteLength < bytes) return NOTHING
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  const width = Math.round(view.getUint32(bytes - 8) / 65_536)
  const height = Math.round(view.getUint32(bytes - 4) / 65_536)
  return width > 0 && height > 0 ? { width, height } : NOTHING
}
