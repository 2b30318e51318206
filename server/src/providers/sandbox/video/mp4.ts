/** Puts one H.264 track into an MP4 file with its index first, so that it plays while it loads. */

export interface Track {
  /** Pixels. */
  readonly width: number
  readonly height: number
  /** An AVCDecoderConfigurationRecord, with lengths of four bytes (ISO 14496-15, 5.3.3.1). */
  readonly configuration: Uint8Array
  readonly framesPerSecond: number
  /** In the order they are shown; `key`: decodable alone. */
  readonly frames: readonly { readonly key: boolean; readonly unit: Uint8Array }[]
}

/** Ticks per second, in every box with a time. */
const TIMESCALE = 24_000

export function muxMp4(track: Track): Uint8Array {
  const type = box('ftyp', text('isom'), u32(0x200), text('isomiso2avc1mp41'))
  // The index contains the position of the bytes; its own length is constant.
  const before = type.byteLength + index(track, 0).byteLength + 8
  return join([type, index(track, before), box('mdat', ...track.frames.flatMap(sample))])
}

/** In MP4 each unit is preceded by its length. */
function sample({ unit }: Track['frames'][number]): readonly Uint8Array[] {
  return [u32(unit.byteLength), unit]
}

function index(track: Track, firstByteAt: number): Uint8Array {
  const ticks = (track.frames.length * TIMESCALE) / track.framesPerSecond
  return box(
    'moov',
    fullBox(
      'mvhd',
      0,
      zeros(8),
      u32(TIMESCALE, ticks, 0x10000),
      u16(0x100),
      zeros(10),
      MATRIX,
      zeros(24),
      u32(2),
    ),
    box('trak', trackHeader(track, ticks), box('mdia', ...media(track, ticks, firstByteAt))),
  )
}

function trackHeader({ width, height }: Track, ticks: number): Uint8Array {
  // Flags: enabled, in the movie, in its preview.
  return fullBox(
    'tkhd',
    7,
    zeros(8),
    u32(1, 0, ticks),
    zeros(16),
    MATRIX,
    u32(width * 0x10000, height * 0x10000),
  )
}

function media(track: Track, ticks: number, firstByteAt: number): readonly Uint8Array[] {
  return [
    // Language: undetermined.
    fullBox('mdhd', 0, zeros(8), u32(TIMESCALE, ticks), u16(0x55c4, 0)),
    fullBox('hdlr', 0, zeros(4), text('vide'), zeros(12), text('Sandbox\0')),
    box(
      'minf',
      fullBox('vmhd', 1, zeros(8)),
      // The bytes are in this file.
      box('dinf', fullBox('dref', 0, u32(1), fullBox('url ', 1))),
      box('stbl', ...sampleTables(track, firstByteAt)),
    ),
  ]
}

function sampleTables(track: Track, firstByteAt: number): readonly Uint8Array[] {
  const { frames } = track
  const keys = frames.flatMap((frame, at) => (frame.key ? [at + 1] : []))
  return [
    fullBox('stsd', 0, u32(1), sampleEntry(track)),
    fullBox('stts', 0, u32(1, frames.length, TIMESCALE / track.framesPerSecond)),
    fullBox('stss', 0, u32(keys.length, ...keys)),
    // One chunk holds them all.
    fullBox('stsc', 0, u32(1, 1, frames.length, 1)),
    fullBox('stsz', 0, u32(0, frames.length, ...frames.map(({ unit }) => unit.byteLength + 4))),
    fullBox('stco', 0, u32(1, firstByteAt)),
  ]
}

function sampleEntry({ width, height, configuration }: Track): Uint8Array {
  return box(
    'avc1',
    zeros(6),
    u16(1),
    zeros(16),
    u16(width, height),
    // 72 dots an inch, one frame per sample, no name, 24 bits of colour.
    u32(0x480000, 0x480000, 0),
    u16(1),
    zeros(32),
    u16(24, 0xffff),
    box('avcC', configuration),
  )
}

/** The unit matrix: the video is shown unchanged. */
const MATRIX = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)

function box(type: string, ...parts: readonly Uint8Array[]): Uint8Array {
  const content = join(parts)
  return join([u32(content.byteLength + 8), text(type), content])
}

/** A box with a version, always 0, and flags. */
function fullBox(type: string, flags: number, ...parts: readonly Uint8Array[]): Uint8Array {
  return box(type, u32(flags), ...parts)
}

/** Concatenates the parts. */
export function join(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.byteLength
  }
  return whole
}

function u32(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 4)
  const view = new DataView(bytes.buffer)
  values.forEach((value, at) => view.setUint32(at * 4, value))
  return bytes
}

function u16(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 2)
  const view = new DataView(bytes.buffer)
  values.forEach((value, at) => view.setUint16(at * 2, value))
  return bytes
}

function zeros(count: number): Uint8Array {
  return new Uint8Array(count)
}

function text(ascii: string): Uint8Array {
  return new TextEncoder().encode(ascii)
}
