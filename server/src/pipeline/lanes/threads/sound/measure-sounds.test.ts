/** Files of every kind that vendors listen to, true ones and such that say less than they hold. */
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacket,
  MkvOutputFormat,
  Mp4OutputFormat,
  OggOutputFormat,
  Output,
  type OutputFormat,
  WebMOutputFormat,
} from 'mediabunny'
import { expect, test } from 'vitest'
import { waveFile } from '../../../../../test/calls/wave-file.ts'
import { measureSounds } from './measure-sounds.ts'

async function lengthOf(file: Uint8Array): Promise<number | undefined> {
  const span = { start: 0, end: file.byteLength }
  const { seconds } = await measureSounds({
    kind: 'measure',
    head: file,
    descriptor: undefined,
    spans: [span],
  })
  return seconds[0] === undefined ? undefined : Math.round(seconds[0] * 1_000) / 1_000
}

/** MPEG 1 layer III, 128 kbit/s at 44 100: 417 bytes for 1 152 samples. */
function mp3(frames: number, told?: number): Buffer {
  const frame = Buffer.alloc(417)
  frame.writeUInt32BE(0xff_fb_90_00, 0)
  const all = Array.from({ length: frames }, () => frame)
  if (told === undefined) return Buffer.concat(all)
  const head = Buffer.from(frame)
  head.write('Xing', 36, 'latin1')
  head.writeUInt32BE(1, 40)
  head.writeUInt32BE(told, 44)
  return Buffer.concat([head, ...all])
}

/** ADTS: AAC at 44 100, one channel, 107 bytes for 1 024 samples. */
function adts(frames: number): Buffer {
  const length = 107
  const head = Buffer.from([
    0xff,
    0xf1,
    0x50,
    0x40 | (length >> 11),
    (length >> 3) & 0xff,
    ((length & 7) << 5) | 0x1f,
    0xfc,
  ])
  return Buffer.concat(Array.from({ length: frames }, () => Buffer.concat([head, Buffer.alloc(100)])))
}

const OPUS_HEAD = Buffer.from('4f707573486561640101000080bb0000000000', 'hex')
/** Twenty milliseconds of Opus in one frame. */
const OPUS_20_MS = Buffer.concat([Buffer.from([9 << 3]), Buffer.alloc(39)])
const AAC_PACKET = Buffer.alloc(100)

interface Muxing {
  readonly packets: number
  /** What the file says that a packet takes, seconds. */
  readonly each: number
  readonly data: Uint8Array
  readonly config?: { readonly sampleRate: number; readonly description: Uint8Array }
}

async function muxed(
  format: OutputFormat,
  codec: 'aac' | 'opus' | 'flac' | 'vorbis',
  { packets, each, data, config: own }: Muxing,
): Promise<Uint8Array> {
  const target = new BufferTarget()
  const output = new Output({ format, target })
  const source = new EncodedAudioPacketSource(codec)
  output.addAudioTrack(source)
  await output.start()
  const config =
    codec === 'opus'
      ? { codec, sampleRate: 48_000, numberOfChannels: 1, description: OPUS_HEAD }
      : {
          codec: 'mp4a.40.2',
          sampleRate: 44_100,
          numberOfChannels: 1,
          description: Buffer.from([0x12, 0x08]),
        }
  const names = { aac: 'mp4a.40.2', opus: 'opus', flac: 'flac', vorbis: 'vorbis' } as const
  const decoderConfig = own === undefined ? config : { codec: names[codec], numberOfChannels: 1, ...own }
  for (let at = 0; at < packets; at += 1)
    await source.add(new EncodedPacket(data, 'key', at * each, each), { decoderConfig })
  await output.finalize()
  return new Uint8Array(target.buffer ?? new ArrayBuffer(0))
}

const opus = { packets: 100, each: 0.02, data: OPUS_20_MS }
const aac = { packets: 100, each: 1_024 / 44_100, data: AAC_PACKET }

test.each<[string, () => Promise<Uint8Array> | Uint8Array, number]>([
  ['a WAV file', () => waveFile(2.5), 2.5],
  ['an MP3 file', () => mp3(100), 2.612],
  ['an AAC file', () => adts(100), 2.322],
  ['an Ogg file', () => muxed(new OggOutputFormat(), 'opus', opus), 2],
  ['a WebM file', () => muxed(new WebMOutputFormat(), 'opus', opus), 2],
  ['a Matroska file', () => muxed(new MkvOutputFormat(), 'opus', opus), 2],
  ['an M4A file', () => muxed(new Mp4OutputFormat(), 'aac', aac), 2.322],
])('%s is as long as its packets', async (_what, file, seconds) => {
  expect(await lengthOf(await file())).toBeCloseTo(seconds, 2)
})

test.each<[string, () => Promise<Uint8Array> | Uint8Array, number]>([
  ['a WAV file whose head says a tenth of a second', () => waveFile(60, 0.1), 60],
  ['an MP3 file whose first frame says that there is one', () => mp3(2_000, 1), 52.245],
  [
    'an M4A file whose table says that it is over at once',
    () => muxed(new Mp4OutputFormat(), 'aac', { ...aac, packets: 1_000, each: 0.0001 }),
    23.22,
  ],
  [
    'a WebM file whose blocks stand close together',
    () => muxed(new WebMOutputFormat(), 'opus', { ...opus, packets: 1_000, each: 0.001 }),
    20,
  ],
  ['two Ogg files one behind the other', async () => Buffer.concat([await oggOf(100), await oggOf(900)]), 20],
  [
    'an Ogg file that goes on behind what is none',
    async () => resumed(await oggOf(2), await oggOf(1_000)),
    20,
  ],
  ['an AAC file that goes on behind what is none', () => resumed(adts(2), adts(1_000)), 23.2],
  ['an M4A file whose rate is told twice', () => muxed(new Mp4OutputFormat(), 'aac', SLOW_AAC), 12.8],
  ['an M4A file that plays its sound again and again', () => editedMp4(600), 600],
  ['a Matroska file of FLAC whose blocks stand close together', () => inMatroska('flac', FLAC), 51.2],
  ['a Matroska file of Vorbis whose blocks stand close together', () => inMatroska('vorbis', VORBIS), 51.2],
  [
    'a FLAC file whose head says nothing',
    () => Buffer.concat([FLAC_HEAD, ...repeated(FLAC_FRAME, 100)]),
    51.2,
  ],
  ['an AMR file of silence', () => Buffer.concat([Buffer.from('#!AMR\n'), Buffer.alloc(1_000, 0x7c)]), 20],
  ['a wide AMR file', () => Buffer.concat([Buffer.from('#!AMR-WB\n'), ...repeated(Buffer.alloc(18), 50)]), 1],
  [
    'an Ogg file of Speex',
    () => oggPage(SPEEX_HEAD, Buffer.from('x'), ...repeated(Buffer.from('xy'), 150)),
    3,
  ],
  ['an Ogg file of Vorbis', () => oggPage(...VORBIS_HEADERS, ...repeated(VORBIS_LONG, 100)), 51.2],
  ['an Ogg file of FLAC', () => oggPage(OGG_FLAC_HEAD, ...repeated(FLAC_FRAME, 100)), 51.2],
  ['an Ogg file in a page that is broken', async () => oggPage(await oggOf(500)), 10],
  ['an MP3 file whose frames stand within one that nothing follows', () => within(slowMp3(5), mp3(1)), 0.3],
  ['an MP3 file that goes on at another rate', () => Buffer.concat([mp3(2), slowMp3(1_000)]), 72],
])('%s is as long as what it holds', async (_what, file, seconds) => {
  const length = await lengthOf(await file())
  expect(length).toBeGreaterThanOrEqual(seconds - 0.3)
  expect(length).toBeLessThanOrEqual(seconds + 0.6)
})

test('a short WAV file whose head says nothing is measured to its end', async () => {
  expect(await lengthOf(waveFile(0.25, 0))).toBeGreaterThanOrEqual(0.25)
})

const SLOW_AAC = {
  ...aac,
  // What the file says is 96 000, and its codec is told 8 000.
  config: { sampleRate: 96_000, description: Buffer.from('1588', 'hex') },
}

function repeated(piece: Uint8Array, times: number): readonly Uint8Array[] {
  return Array.from({ length: times }, () => piece)
}

function within(inner: Uint8Array, outer: Buffer): Buffer {
  const file = Buffer.from(outer)
  file.set(inner.subarray(0, file.length - 8), 4)
  return Buffer.concat([file, Buffer.from('none')])
}

/** 4 096 samples at 8 000 a second, by its own head. */
const FLAC_FRAME = Buffer.concat([Buffer.from('fff8c4080004', 'hex'), Buffer.alloc(20)])
/** That its rate is 192 000, and that there are no samples. */
const FLAC_HEAD = (() => {
  const info = Buffer.alloc(34)
  info.writeUInt32BE((192_000 << 12) >>> 0, 10)
  return Buffer.concat([Buffer.from('fLaC\u0080\u0000\u0000\u0022', 'latin1'), info])
})()
const OGG_FLAC_HEAD = Buffer.concat([Buffer.from('\u007fFLAC\u0001\u0000\u0000\u0000', 'latin1'), FLAC_HEAD])
const FLAC = { data: FLAC_FRAME, description: FLAC_HEAD }

/** Blocks of 256 and of 8 192 samples at 8 000 a second. */
const VORBIS_HEADERS = (() => {
  const first = Buffer.alloc(30)
  first.write('\u0001vorbis', 'latin1')
  first[11] = 1
  first.writeUInt32LE(8_000, 12)
  first[28] = 0xd8
  first[29] = 1
  const modes = ['100000', mode(false), mode(true), '1'].join('')
  return [first, Buffer.from('\u0003vorbis', 'latin1'), Buffer.concat([Buffer.alloc(8), bits(modes)])]
})()
/** Of the second mode. */
const VORBIS_LONG = Buffer.from([0b10, 0, 0])
const VORBIS = {
  data: VORBIS_LONG,
  description: Buffer.concat([
    Buffer.from([2, ...VORBIS_HEADERS.slice(0, 2).map(({ length }) => length)]),
    ...VORBIS_HEADERS,
  ]),
}

function mode(isLong: boolean): string {
  return `${isLong ? '1' : '0'}${'0'.repeat(40)}`
}

/** The least significant bit of each byte first. */
function bits(text: string): Buffer {
  const bytes = Buffer.alloc(Math.ceil(text.length / 8))
  for (let at = 0; at < text.length; at += 1)
    if (text[at] === '1') bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (1 << (at & 7))
  return bytes
}

const SPEEX_HEAD = (() => {
  const head = Buffer.alloc(80)
  head.write('Speex   ', 'latin1')
  head.writeUInt32LE(96_000, 36)
  head.writeUInt32LE(1, 64)
  return head
})()

/** Pages with wrong checksums, each packet of which stands on one but for those that are longer. */
function oggPage(...packets: readonly Uint8Array[]): Buffer {
  const pages = packets.map((packet, at) => {
    const full = Math.floor(packet.byteLength / 255)
    const head = Buffer.alloc(27)
    head.write('OggS', 'latin1')
    head[5] = at === 0 ? 2 : 0
    head[26] = full + 1
    return [
      head,
      Buffer.from([...repeated(Buffer.from([255]), full).map(() => 255), packet.byteLength % 255]),
      packet,
    ]
  })
  return Buffer.concat(pages.flat())
}

/** Times a hundredth of what the packets play. */
function inMatroska(
  codec: 'flac' | 'vorbis',
  { data, description }: { readonly data: Uint8Array; readonly description: Uint8Array },
): Promise<Uint8Array> {
  const config = { sampleRate: 8_000, description }
  return muxed(new MkvOutputFormat(), codec, { packets: 100, each: 0.005, data, config })
}

/** Two seconds of sound, and a list that says to play its beginning for so long. */
async function editedMp4(seconds: number): Promise<Uint8Array> {
  const file = Buffer.from(await muxed(new Mp4OutputFormat({ fastStart: false }), 'aac', aac))
  const list = Buffer.alloc(36)
  list.writeUInt32BE(36, 0)
  list.write('edts', 4)
  list.writeUInt32BE(28, 8)
  list.write('elst', 12)
  list.writeUInt32BE(1, 20)
  const scaleAt = file.indexOf('mvhd') + 4
  const scale = file.readUInt32BE(scaleAt + (file[scaleAt] === 1 ? 20 : 12))
  list.writeUInt32BE(seconds * scale, 24)
  list.writeUInt32BE(65_536, 32)
  const track = file.indexOf('trak')
  for (const at of [file.indexOf('moov'), track]) file.writeUInt32BE(file.readUInt32BE(at - 4) + 36, at - 4)
  return Buffer.concat([file.subarray(0, track + 4), list, file.subarray(track + 4)])
}

function oggOf(packets: number): Promise<Uint8Array> {
  return muxed(new OggOutputFormat(), 'opus', { ...opus, packets })
}

function resumed(one: Uint8Array, other: Uint8Array): Buffer {
  return Buffer.concat([one, Buffer.from('none'), other])
}

/** MPEG 2.5 layer III, 8 kbit/s at 8 000: 72 bytes for 576 samples. */
function slowMp3(frames: number): Buffer {
  const frame = Buffer.alloc(72)
  frame.writeUInt32BE(0xff_e3_18_c0, 0)
  return Buffer.concat(Array.from({ length: frames }, () => frame))
}

/** ID3v2.4 with a picture. */
function id3(bytes: number): Buffer {
  const head = Buffer.from('ID3\u0004\u0000\u0000', 'latin1')
  const size = Buffer.from([21, 14, 7, 0].map((shift) => (bytes >> shift) & 0x7f))
  return Buffer.concat([head, size, Buffer.alloc(bytes, 'picture')])
}

test('a picture of an artist takes no time, and is not held against the sound', async () => {
  expect(await lengthOf(Buffer.concat([id3(1_000_000), mp3(100)]))).toBeCloseTo(2.612, 2)
  expect(await lengthOf(Buffer.concat([id3(1_000_000), adts(100)]))).toBeCloseTo(2.322, 2)
})

test.each<[string, () => Promise<Uint8Array> | Uint8Array]>([
  ['bytes of nothing', () => Buffer.alloc(1_000, 'x')],
  ['a short sound before much that is none', () => Buffer.concat([mp3(10), Buffer.alloc(1_000_000)])],
  [
    'a WAV file of an unknown form',
    () => {
      const file = waveFile(1)
      file.writeUInt16LE(0x31, 20)
      return file
    },
  ],
  [
    'a WAV file without a rate',
    () => {
      const file = waveFile(1)
      file.writeUInt32LE(0, 24)
      return file
    },
  ],
])('%s cannot be measured', async (_what, file) => {
  expect(await lengthOf(await file())).toBeUndefined()
})

test('a file that lies outside of memory is read there, from where its head ends', async () => {
  const file = waveFile(3)
  const path = join(tmpdir(), `sounds-${process.pid}`)
  const descriptor = openSync(path, 'wx+')
  try {
    unlinkSync(path)
    writeSync(descriptor, file.subarray(10_000))
    const head = file.subarray(0, 10_000)
    const spans = [{ start: 0, end: file.byteLength }]
    expect((await measureSounds({ kind: 'measure', head, descriptor, spans })).seconds[0]).toBeCloseTo(3, 5)
  } finally {
    closeSync(descriptor)
  }
})
