/** The smallest PNG that any reader accepts: one colour, stored without compression. */

const SIDE = 32
const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
const RGB = 2
/** ISO 3309. */
const CRC_POLYNOMIAL = 0xedb88320
/** RFC 1950. */
const ADLER_MODULUS = 65_521

/** A square of 32 points, in base64. */
export function plainPng(colour: readonly [red: number, green: number, blue: number]): string {
  const row = [0, ...Array.from({ length: SIDE }, () => colour).flat()]
  const pixels = Array.from({ length: SIDE }, () => row).flat()
  const header = [...word(SIDE), ...word(SIDE), 8, RGB, 0, 0, 0]
  const bytes = [
    ...SIGNATURE,
    ...chunk('IHDR', header),
    ...chunk('IDAT', stored(pixels)),
    ...chunk('IEND', []),
  ]
  return btoa(String.fromCharCode(...bytes))
}

/** A zlib stream with one uncompressed block. */
function stored(data: readonly number[]): readonly number[] {
  const { length } = data
  const size = [length & 0xff, length >> 8]
  return [0x78, 0x01, 0x01, ...size, ...size.map((byte) => byte ^ 0xff), ...data, ...word(adler(data))]
}

function chunk(type: string, data: readonly number[]): readonly number[] {
  const named = [...new TextEncoder().encode(type), ...data]
  return [...word(data.length), ...named, ...word(crc(named))]
}

function word(value: number): readonly number[] {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff)
}

function crc(data: readonly number[]): number {
  let value = 0xffffffff
  for (const byte of data) {
    value ^= byte
    for (let bit = 0; bit < 8; bit += 1) value = (value >>> 1) ^ ((value & 1) * CRC_POLYNOMIAL)
  }
  return value ^ 0xffffffff
}

function adler(data: readonly number[]): number {
  let low = 1
  let high = 0
  for (const byte of data) {
    low = (low + byte) % ADLER_MODULUS
    high = (high + low) % ADLER_MODULUS
  }
  return high * 65_536 + low
}
