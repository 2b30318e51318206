/**
 * The duration of sound, computed from all of its packets. The duration stated in a file's header is not trusted,
 * because the client could set it.
 */
import type { InputAudioTrack } from 'mediabunny'
import type * as library from 'mediabunny'
import {
  adtsFrameAt,
  amrFrameAt,
  flacFrameAt,
  mpegFrameAt,
  mpegSoundStart,
  scanFrames,
  SYNC,
} from './frame-scan.ts'
import { readerOf } from '../read-form.ts'
import { editedSeconds } from './mp4-edits.ts'
import { hearOgg } from './ogg-sound.ts'
import { flacRate, packetSeconds, type PacketSeconds } from './packet-seconds.ts'
import { flacHeadEnd, type Heard, id3End, latin1, PACKETS_MAX, type Read } from './sound-file.ts'
import type { MeasureTask, SoundMeasured } from '../work.ts'

type Library = typeof library

/** Limit for data other than packets, such as an artist's name or an image: this, or the size of all packets. */
const UNHEARD_BYTES_MAX = 262_144
/** Header of a file, and what recorders write in addition to the sound. */
const HEAD_BYTES = 4_096
/** Overhead per packet in a file that has no table of packets. */
const PACKET_HEAD_BYTES = 32

export async function measureSounds(task: MeasureTask): Promise<SoundMeasured> {
  const library = await import('mediabunny')
  const seconds: (number | undefined)[] = []
  const reasons: string[] = []
  for (const span of task.spans) {
    try {
      seconds.push(plausible(await measure(library, readerOf(task, span), span.end - span.start)))
    } catch (error) {
      // The library reports faults of a file by throwing plain errors.
      reasons.push(error instanceof Error ? error.message : String(error))
      seconds.push(undefined)
    }
  }
  return { kind: 'measured', seconds, reasons }
}

/** A year: longer times, and values that are not numbers, are invalid. */
const SECONDS_MAX = 31_536_000

function plausible(seconds: number): number {
  if (seconds >= 0 && seconds <= SECONDS_MAX) return seconds
  throw new Error('its times are impossible')
}

/** First bytes of Matroska and WebM. */
const EBML = '\u001aE\u00df\u00a3'
/** WAV, MP4 and QuickTime have tables of packets. */
const HAS_TABLES = /^(?:RIFF|RF64)|^.{4}(?:ftyp|moov|mdat|wide|free|skip|pnot)/s

/** By its first bytes, as players recognise the kind of a file. Throws if the duration cannot be determined. */
async function measure(library: Library, read: Read, size: number): Promise<number> {
  if (size === 0) return 0
  const start = id3End(read, size)
  const begin = latin1(read(start, start + 12))
  if (begin.startsWith('OggS')) return hearOgg(read, size).seconds
  if (begin.startsWith('fLaC')) {
    const from = flacHeadEnd(read, size, start)
    const rate = flacRate(read(start, start + 64)) ?? 0
    return someSound(scanFrames(read, { from, to: size, first: SYNC }, flacFrameAt(rate)))
  }
  const amr = /^#!AMR(-WB)?\n/.exec(begin)
  if (amr !== null) {
    const frames = { from: start + amr[0].length, to: size, first: undefined }
    return someSound(scanFrames(read, frames, amrFrameAt(amr[1] !== undefined)))
  }
  if (begin.startsWith(EBML) || HAS_TABLES.test(begin)) return measureTracks(library, read, size)
  return measureFrames(read, start, size)
}

function someSound({ seconds, packets }: Heard): number {
  if (packets === 0) throw new Error('there is no sound in it')
  return seconds
}

/** Frames only: the kind with the longest duration counts, because players guess the kind. */
function measureFrames(read: Read, start: number, size: number): number {
  const kinds = [
    scanFrames(read, { from: mpegSoundStart(read, start), to: size, first: SYNC }, mpegFrameAt),
    scanFrames(read, { from: start, to: size, first: SYNC }, adtsFrameAt),
  ]
  const heard = Math.max(...kinds.map(({ bytes }) => bytes))
  if (size - start - heard > heard) throw new Error('most of it is not a known sound format')
  return Math.max(...kinds.map(({ seconds }) => seconds))
}

async function measureTracks(library: Library, read: Read, size: number): Promise<number> {
  const { CustomSource, Input, MATROSKA, MP4, QTFF, WAVE, WEBM } = library
  const input = new Input({
    source: new CustomSource({ getSize: () => size, read }),
    formats: [MP4, QTFF, MATROSKA, WEBM, WAVE],
  })
  try {
    const sound = await Promise.all((await input.getAudioTracks()).map((track) => walkSound(library, track)))
    if (sound.length === 0) throw new Error('there is no sound in it')
    const seen: Heard[] = [...sound]
    for (const track of await input.getVideoTracks()) seen.push(await walk(library, track))
    const heard = seen.reduce((sum, { bytes }) => sum + bytes, 0)
    const packets = seen.reduce((sum, one) => sum + one.packets, 0)
    const longest = Math.max(...sound.map(({ seconds }) => seconds))
    const unheard = Math.max(0, size - heard)
    const format = await input.getFormat()
    if (format === WAVE) return waveSeconds(sound[0], longest, unheard)
    const isMp4 = format === MP4 || format === QTFF
    // Data that the tables of an MP4 file do not name is never played; in other files players search for more after an
    // error.
    const most = isMp4 ? Math.max(UNHEARD_BYTES_MAX, heard) : HEAD_BYTES + packets * PACKET_HEAD_BYTES
    if (unheard > most) throw new Error('most of it is not a known sound format')
    return isMp4 ? Math.max(longest, editedSeconds(read, size)) : longest
  } finally {
    input.dispose()
  }
}

/** Players continue after the end stated in a WAV file. Its head is no longer than the sound, or counts as sound. */
function waveSeconds(sound: HeardTrack | undefined, seconds: number, unheard: number): number {
  const behind = Math.max(0, unheard - Math.min(HEAD_BYTES, sound?.bytes ?? 0))
  if (behind === 0) return seconds
  if (sound?.bytesPerSecond === undefined) throw new Error('its length is not known')
  return seconds + behind / sound.bytesPerSecond
}

interface HeardTrack extends Heard {
  /** Set for sound that is not compressed. */
  readonly bytesPerSecond?: number
}

async function walkSound(library: Library, track: InputAudioTrack): Promise<HeardTrack> {
  const codec = await track.getCodec()
  const rate = await track.getSampleRate()
  const sampleBytes = sampleBytesOf(codec)
  if (sampleBytes !== undefined) {
    const walked = await walk(library, track)
    const bytesPerSecond = rate * (await track.getNumberOfChannels()) * sampleBytes
    return { ...walked, seconds: Math.max(walked.seconds, walked.bytes / bytesPerSecond), bytesPerSecond }
  }
  const description = descriptionIn(await track.getDecoderConfig())
  const secondsOf = packetSeconds(codec, { description, rate })
  if (secondsOf === undefined) throw new Error(`it holds ${codec ?? 'sound of an unknown kind'}`)
  return walk(library, track, secondsOf)
}

function descriptionIn(config: unknown): Uint8Array | undefined {
  if (typeof config !== 'object' || config === null || !('description' in config)) return undefined
  const { description } = config
  if (ArrayBuffer.isView(description))
    return new Uint8Array(description.buffer, description.byteOffset, description.byteLength)
  return description instanceof ArrayBuffer ? new Uint8Array(description) : undefined
}

/** The duration of its packets, or the one the file states for them, whichever is longer. */
async function walk(
  library: Library,
  track: ConstructorParameters<Library['EncodedPacketSink']>[0],
  secondsIn?: PacketSeconds,
): Promise<Heard> {
  const sink = new library.EncodedPacketSink(track)
  let [told, seconds, bytes, packets] = [0, 0, 0, 0]
  for await (const packet of sink.packets(undefined, undefined, { metadataOnly: secondsIn === undefined })) {
    told += Math.max(0, packet.duration)
    seconds += secondsIn?.(packet.data) ?? 0
    bytes += packet.byteLength
    packets += 1
    if (packets > PACKETS_MAX) throw new Error('it has too many packets')
  }
  return { seconds: Math.max(told, seconds), bytes, packets }
}

/** Bytes per sample of one channel; undefined: it is compressed. */
function sampleBytesOf(codec: string | null): number | undefined {
  if (codec === 'alaw' || codec === 'ulaw') return 1
  const bits = /^pcm-[suf](\d+)/.exec(codec ?? '')?.[1]
  return bits === undefined ? undefined : Number(bits) / 8
}
