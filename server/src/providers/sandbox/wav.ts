const HEADER_BYTES = 44
const RATE = 8_000
const PITCH_HZ = 440
const LOUDNESS = 8_000
const BYTES_PER_SAMPLE = 2

/** A tone of so many seconds as a WAV file: one channel of 16-bit samples, 8 000 a second. */
export function toneOf(seconds: number): Uint8Array {
  const samples = Math.max(1, Math.round(seconds * RATE))
  const file = new Uint8Array(HEADER_BYTES + samples * BYTES_PER_SAMPLE)
  const view = new DataView(file.buffer)
  file.set(new TextEncoder().encode('RIFF'), 0)
  view.setUint32(4, file.length - 8, true)
  file.set(new TextEncoder().encode('WAVEfmt '), 8)
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, RATE, true)
  view.setUint32(28, RATE * BYTES_PER_SAMPLE, true)
  view.setUint16(32, BYTES_PER_SAMPLE, true)
  view.setUint16(34, BYTES_PER_SAMPLE * 8, true)
  file.set(new TextEncoder().encode('data'), 36)
  view.setUint32(40, samples * BYTES_PER_SAMPLE, true)
  for (let at = 0; at < samples; at += 1) {
    const value = Math.round(LOUDNESS * Math.sin((2 * Math.PI * PITCH_HZ * at) / RATE))
    view.setInt16(HEADER_BYTES + at * BYTES_PER_SAMPLE, value, true)
  }
  return file
}
