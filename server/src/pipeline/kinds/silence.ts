const SILENCE_SECONDS = 0.5
const SILENCE_RATE = 8_000
const WAVE_HEAD_BYTES = 44

/** Half a second of silence, as a WAV file: the shortest that vendors take is a tenth of a second. */
export function silence(): Uint8Array {
  const length = SILENCE_SECONDS * SILENCE_RATE * 2
  const file = new Uint8Array(WAVE_HEAD_BYTES + length)
  const view = new DataView(file.buffer)
  const words: readonly (readonly [at: number, text: string])[] = [
    [0, 'RIFF'],
    [8, 'WAVEfmt '],
    [36, 'data'],
  ]
  for (const [at, text] of words) file.set(new TextEncoder().encode(text), at)
  view.setUint32(4, WAVE_HEAD_BYTES - 8 + length, true)
  view.setUint32(16, 16, true)
  // PCM, one channel, two bytes a sample.
  view.setUint16(20, 1, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, SILENCE_RATE, true)
  view.setUint32(28, SILENCE_RATE * 2, true)
  view.setUint16(32, 2, true)
  view.setUint16(34, 16, true)
  view.setUint32(40, length, true)
  return file
}
