import { wavOf } from '../dialects/wav.ts'

const RATE = 8_000
const PITCH_HZ = 440
const LOUDNESS = 8_000

/** A tone of this many seconds as a WAV file: one channel of 16-bit samples, 8 000 per second. */
export function toneOf(seconds: number): Uint8Array {
  const samples = new DataView(new ArrayBuffer(Math.max(1, Math.round(seconds * RATE)) * 2))
  for (let at = 0; at < samples.byteLength; at += 2) {
    const value = Math.round(LOUDNESS * Math.sin((Math.PI * PITCH_HZ * at) / RATE))
    samples.setInt16(at, value, true)
  }
  return wavOf(new Uint8Array(samples.buffer), RATE)
}
