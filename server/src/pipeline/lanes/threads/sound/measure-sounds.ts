/**
 * How long sound plays, told from all of its packets: what a file's head says of its length is not believed, since who pays
 * for the length wrote it.
 */
import { readSync } from 'node:fs'
import type { EncodedPacket, InputAudioTrack } from 'mediabunny'
import type * as library from 'mediabunny'
import type { Span } from '../../../../core/passthrough/splice.ts'
import { BYTES_PER_SECOND_LEAST } from './sound-bytes.ts'
import { chainsOf, type OggChain, type Read, tagBytesOf } from './sound-frames.ts'
import type { MeasureTask, SoundMeasured } from '../work.ts'

type Library = typeof library

/** Samples of the lowest quality that any format has, as bytes of one channel. */
const SAMPLE_BYTES_MOST = 4
/** Of one packet, whatever its times say. */
const FRAME_SAMPLES: Readonly<Record<string, number>> = { aac: 1_024, mp3: 576, ac3: 1_536, eac3: 256 }
/** Highest rate of formats that lose something, bits a second. */
const BITS_PER_SECOND_MOST = 640_000
const LOSSLESS = /^(?:pcm|flac|alaw|ulaw)/
/** Names of an artist, a picture: what is no packet may be as large as this, or as all packets. */
const UNHEARD_BYTES_MAX = 262_144
/** Head of a file, and what recorders write beside the sound. */
const HEAD_BYTES = 4_096
/** Twenty milliseconds each, eleven hours: who sends more has a thread at work for nothing. */
const PACKETS_MAX = 2_000_000
/** Of Ogg files, one behind the other. */
const CHAINS_MAX = 1_000

export async function measureSounds(task: MeasureTask): Promise<SoundMeasured> {
  const library = await import('mediabunny')
  const seconds: (number | undefined)[] = []
  const reasons: string[] = []
  for (const span of task.spans) {
    try {
      seconds.push(plausible(await measure(library, reader(task, span), span.end - span.start)))
    } catch (error) {
      // The library throws what it finds wrong with a file, in no class of its own.
      reasons.push(error instanceof Error ? error.message : String(error))
      seconds.push(undefined)
    }
  }
  return { kind: 'measured', seconds, reasons }
}

/** A year: beyond it, and where there is no number, the times of the packets are none. */
const SECONDS_MAX = 31_536_000

function plausible(seconds: number): number {
  if (seconds >= 0 && seconds <= SECONDS_MAX) return seconds
  throw new Error('its times are impossible')
}

function reader({ head, descriptor }: MeasureTask, span: Span): Read {
  return (start, end) => {
    const from = span.start + start
    const to = Math.min(span.start + end, span.end)
    if (to <= head.byteLength) return head.subarray(from, to)
    const bytes = new Uint8Array(to - from)
    const inHead = head.subarray(from, to)
    bytes.set(inHead)
    let at = inHead.byteLength
    while (at < bytes.byteLength && descriptor !== undefined) {
      const got = readSync(descriptor, bytes, at, bytes.byteLength - at, from + at - head.byteLength)
      if (got === 0) throw new Error('the file of a body is shorter than it was')
      at += got
    }
    return bytes
  }
}

async function measure(library: Library, read: Read, size: number): Promise<number> {
  if (size === 0) return 0
  const chains = chainsOf(read, size)
  if (chains.length === 0) return measureOne(library, read, size)
  if (chains.length > CHAINS_MAX) throw new Error('it is put together of too many files')
  // One behind the other, each with a head of its own: players go on from one to the next.
  let seconds = 0
  for (const chain of chains) {
    const readChain: Read = (start, end) => read(chain.start + start, Math.min(chain.start + end, chain.end))
    seconds += await measureOne(library, readChain, chain.end - chain.start, chain)
  }
  return seconds
}

async function measureOne(library: Library, read: Read, size: number, chain?: OggChain): Promise<number> {
  const { ADTS, CustomSource, FLAC, Input, MATROSKA, MP3, MP4, OGG, QTFF, WAVE, WEBM } = library
  const input = new Input({
    source: new CustomSource({ getSize: () => size, read }),
    formats: [MP4, QTFF, MATROSKA, WEBM, WAVE, MP3, OGG, ADTS, FLAC],
  })
  try {
    const sound = await Promise.all((await input.getAudioTracks()).map((track) => walkSound(library, track)))
    if (sound.length === 0) throw new Error('there is no sound in it')
    const seen = [...sound]
    for (const track of await input.getVideoTracks()) seen.push(await walk(library, track))
    const heard = seen.reduce((sum, { bytes }) => sum + bytes, 0)
    const longest = Math.max(...sound.map(({ seconds }) => seconds))
    const unheard = Math.max(0, size - heard)
    const format = await input.getFormat()
    if (format === WAVE) return waveSeconds(sound[0], longest, unheard)
    const isTable = format !== MP3 && format !== OGG && format !== ADTS && format !== FLAC
    const tags = isTable ? 0 : tagBytesOf(read, size, chain)
    const between = Math.max(0, unheard - tags)
    if (between > UNHEARD_BYTES_MAX && between > heard)
      throw new Error('most of it is no sound that is known')
    // Players look for sound behind what is none, but for files that have a table of their packets.
    return isTable ? longest : longest + Math.max(0, between - HEAD_BYTES) / BYTES_PER_SECOND_LEAST
  } finally {
    input.dispose()
  }
}

/** Players go on behind the end that a WAV file names. */
function waveSeconds(sound: Walked | undefined, seconds: number, unheard: number): number {
  const behind = Math.max(0, unheard - HEAD_BYTES)
  if (behind === 0) return seconds
  if (sound === undefined || sound.bytesPerSecond === undefined) throw new Error('its length is not known')
  return seconds + behind / sound.bytesPerSecond
}

interface Walked {
  readonly seconds: number
  readonly bytes: number
  readonly packets: number
  /** Of sound that is not compressed. */
  readonly bytesPerSecond?: number | undefined
}

async function walkSound(library: Library, track: InputAudioTrack): Promise<Walked> {
  const codec = await track.getCodec()
  const rate = await track.getSampleRate()
  const channels = await track.getNumberOfChannels()
  const walked = await walk(library, track, codec === 'opus' ? opusSeconds : undefined)
  const raw = rate * channels * (LOSSLESS.test(codec ?? '') ? sampleBytesOf(codec) : 0)
  const lossy = codec === null ? BYTES_PER_SECOND_LEAST : BITS_PER_SECOND_MOST / 8
  const most = raw > 0 ? raw : lossy
  const ofFrames = ((FRAME_SAMPLES[codec ?? ''] ?? 0) * walked.packets) / rate
  return {
    ...walked,
    seconds: Math.max(walked.seconds, walked.bytes / most, ofFrames),
    ...(raw > 0 ? { bytesPerSecond: raw } : {}),
  }
}

async function walk(
  library: Library,
  track: ConstructorParameters<Library['EncodedPacketSink']>[0],
  secondsIn?: (packet: EncodedPacket) => number,
): Promise<Walked> {
  const sink = new library.EncodedPacketSink(track)
  let seconds = 0
  let bytes = 0
  let packets = 0
  for await (const packet of sink.packets(undefined, undefined, { metadataOnly: secondsIn === undefined })) {
    seconds += Math.max(0, packet.duration, secondsIn?.(packet) ?? 0)
    bytes += packet.byteLength
    packets += 1
    if (packets > PACKETS_MAX) throw new Error('it has too many packets')
  }
  return { seconds, bytes, packets }
}

function sampleBytesOf(codec: string | null): number {
  if (codec === 'alaw' || codec === 'ulaw') return 1
  const bits = /^pcm-[suf](\d+)/.exec(codec ?? '')?.[1]
  return bits === undefined ? SAMPLE_BYTES_MOST : Number(bits) / 8
}

/** Milliseconds of a frame by the head of its packet (RFC 6716 §3.1). */
const OPUS_SILK_MS = [10, 20, 40, 60]
const OPUS_HYBRID_MS = [10, 20]
const OPUS_CELT_MS = [2.5, 5, 10, 20]

function opusSeconds({ data }: EncodedPacket): number {
  const [head = 0, count = 0] = data
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
