/** Files of every kind that vendors listen to, true ones and such that say less than they hold. */
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacket,
  type AudioCodec,
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

/** `each`: what the file says that a packet takes, seconds. */
async function muxed(
  format: OutputFormat,
  codec: AudioCodec,
  { packets, each, data }: { readonly packets: number; readonly each: number; readonly data: Uint8Array },
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
  for (let at = 0; at < packets; at += 1)
    await source.add(new EncodedPacket(data, 'key', at * each, each), { decoderConfig: config })
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
  ['an AAC file that goes on behind what is none', () => resumed(adts(2), adts(1_000)), 90],
  ['an MP3 file that goes on at another rate', () => Buffer.concat([mp3(2), slowMp3(1_000)]), 68],
])('%s is as long as what it holds', async (_what, file, seconds) => {
  expect(await lengthOf(await file())).toBeGreaterThanOrEqual(seconds - 0.6)
})

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
