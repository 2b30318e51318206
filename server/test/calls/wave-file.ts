/** A WAV file of silence: 8 000 samples a second of two bytes. Its head may say another length than it has. */
export function waveFile(seconds: number, claimed = seconds): Buffer {
  const length = Math.round(seconds * RATE) * 2
  const told = Math.round(claimed * RATE) * 2
  const head = Buffer.alloc(44)
  head.write('RIFF', 0, 'latin1')
  head.writeUInt32LE(36 + told, 4)
  head.write('WAVEfmt ', 8, 'latin1')
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(RATE, 24)
  head.writeUInt32LE(RATE * 2, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36, 'latin1')
  head.writeUInt32LE(told, 40)
  return Buffer.concat([head, Buffer.alloc(length)])
}

const RATE = 8_000
