import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Mp4Reader, type VideoMeasure } from './mp4.ts'

describe('the length of a video is read from its own header', () => {
  test.each<[name: string, file: Uint8Array, expected: Partial<VideoMeasure>]>([
    ['moov before the pictures', video({ seconds: 5 }), { seconds: 5, width: 1280, height: 720 }],
    ['moov at the end', video({ seconds: 5, moovLast: true }), { seconds: 5, width: 1280, height: 720 }],
    ['64-bit times', video({ seconds: 8.2, wide: true }), { seconds: 8.2, width: 1280 }],
    ['a 64-bit box before it', video({ seconds: 4, moovLast: true, largeBox: true }), { seconds: 4 }],
    ['a sound track without a picture first', video({ seconds: 4, soundFirst: true }), { width: 1280 }],
    ['a length nobody knows', video({ ticks: 0xffffffff }), { seconds: undefined, width: 1280 }],
    ['no time scale', video({ seconds: 4, scale: 0 }), { seconds: undefined }],
    ['nothing', new Uint8Array(0), { seconds: undefined, width: undefined }],
    [
      'something else',
      new TextEncoder().encode('<html>404 not found, but politely</html>'),
      { seconds: undefined },
    ],
    [
      'a moov longer than any',
      concat([u32(0x7fffffff), text('moov'), new Uint8Array(64)]),
      { seconds: undefined },
    ],
  ])('%s', (_name, file, expected) => {
    expect(read([file])).toMatchObject(expected)
  })

  test('however the bytes are cut, the same is read', () => {
    const file = video({ seconds: 6.5, moovLast: true })
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 200 }), (lengths) => {
        expect(read(cut(file, lengths))).toEqual({ seconds: 6.5, width: 1280, height: 720 })
      }),
    )
  })

  test('a truncated video gives no wrong value and does not throw', () => {
    const file = video({ seconds: 5, moovLast: true })
    for (let length = 0; length < file.byteLength; length += 1) {
      expect([undefined, 5]).toContain(read([file.subarray(0, length)]).seconds)
    }
  })

  test('random bytes throw nothing', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => void read([bytes])))
  })
})

function read(chunks: readonly Uint8Array[]): VideoMeasure {
  const reader = new Mp4Reader()
  for (const chunk of chunks) reader.push(chunk)
  return reader.end()
}

function cut(file: Uint8Array, lengths: readonly number[]): readonly Uint8Array[] {
  const chunks: Uint8Array[] = []
  let at = 0
  for (const length of lengths) {
    chunks.push(file.subarray(at, at + length))
    at += length
  }
  return [...chunks, file.subarray(at)]
}

interface Video {
  readonly seconds?: number
  readonly ticks?: number
  readonly scale?: number
  readonly moovLast?: boolean
  readonly wide?: boolean
  readonly largeBox?: boolean
  readonly soundFirst?: boolean
}

function video({
  seconds = 1,
  ticks,
  scale = 1000,
  moovLast,
  wide,
  largeBox,
  soundFirst,
}: Video): Uint8Array {
  const length = ticks ?? seconds * 1000
  const times = wide
    ? [u32(0x01000000), new Uint8Array(16), u32(scale), u32(0), u32(length)]
    : [u32(0), new Uint8Array(8), u32(scale), u32(length)]
  const track = (width: number, height: number): Uint8Array =>
    box('trak', box('tkhd', concat([u32(0), new Uint8Array(72), u32(width * 65_536), u32(height * 65_536)])))
  const moov = box(
    'moov',
    concat([
      box('mvhd', concat([...times, new Uint8Array(80)])),
      ...(soundFirst === true ? [track(0, 0)] : []),
      track(1280, 720),
    ]),
  )
  const pictures = new Uint8Array(500)
  const mdat =
    largeBox === true
      ? concat([u32(1), text('mdat'), u32(0), u32(16 + pictures.byteLength), pictures])
      : box('mdat', pictures)
  const brand = box('ftyp', text('isom0000'))
  return concat(moovLast === true ? [brand, mdat, moov] : [brand, moov, mdat])
}

function box(type: string, body: Uint8Array): Uint8Array {
  return concat([u32(8 + body.byteLength), text(type), body])
}

function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value)
  return bytes
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

function concat(pieces: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(pieces.flatMap((piece) => [...piece]))
}
