export interface UuidParts {
  /** Epoch ms, below 2^48. */
  readonly at: number
  /** 0 to 4095, orders the ids of one millisecond. */
  readonly counter: number
  /** At least 8 bytes, of which two bits do not count. */
  readonly random: Uint8Array
}

/** A UUIDv7 (RFC 9562 §5.7): ids sort by the time they were made, so that rows made together lie together in an index. */
export function uuidV7({ at, counter, random }: UuidParts): string {
  const time = at.toString(16).padStart(12, '0')
  const order = counter.toString(16).padStart(3, '0')
  const byte = (index: number) => HEX[random[index] ?? 0] ?? ''
  const variant = HEX[((random[0] ?? 0) & 0x3f) | 0x80] ?? ''
  const node = byte(2) + byte(3) + byte(4) + byte(5) + byte(6) + byte(7)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${order}-${variant}${byte(1)}-${node}`
}

const HEX = Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, '0'))
