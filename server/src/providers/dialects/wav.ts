const HEADER_BYTES = 44
const BYTES_PER_SAMPLE = 2

/** A WAV file of one channel of 16-bit samples, little-endian; `rate`: samples per second. */
export function wavOf(samples: Uint8Array, rate: number): Uint8Array {
  const file = new Uint8Array(HEADER_BYTES + samples.length)
  const view = new DataView(file.buffer)
  file.set(new TextEncoder().encode('RIFF'), 0)
  view.setUint32(4, file.length - 8, true)
  file.set(new TextEncoder().encode('WAVEfmt '), 8)
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, rate, true)
  view.setUint32(28, rate * BYTES_PER_SAMPLE, true)
  view.setUint16(32, BYTES_PER_SAMPLE, true)
  view.setUint16(34, BYTES_PER_SAMPLE * 8, true)
  file.set(new TextEncoder().encode('data'), 36)
  view.setUint32(40, samples.length, true)
  file.set(samples, HEADER_BYTES)
  return file
}
