/** Writes the bit strings of H.264: fixed fields and Exp-Golomb codes (ITU-T H.264, 9.1). */
export interface BitWriter {
  /** The lowest `count` bits of `value`, at most 24. */
  bits(value: number, count: number): void
  /** ue(v). */
  unsigned(value: number): void
  /** se(v). */
  signed(value: number): void
  /** Ends the payload with its stop bit and gives it back, with emulation prevention. */
  finish(): Uint8Array
}

export function bitWriter(): BitWriter {
  const bytes: number[] = []
  let pending = 0
  let held = 0

  function bits(value: number, count: number): void {
    pending = (pending << count) | (value & ((1 << count) - 1))
    held += count
    while (held >= 8) {
      held -= 8
      bytes.push((pending >> held) & 0xff)
    }
    pending &= (1 << held) - 1
  }

  function unsigned(value: number): void {
    const length = 32 - Math.clz32(value + 1)
    bits(0, length - 1)
    bits(value + 1, length)
  }

  return {
    bits,
    unsigned,
    signed: (value) => unsigned(value > 0 ? 2 * value - 1 : -2 * value),
    finish() {
      bits(1, 1)
      if (held > 0) bits(0, 8 - held)
      return withEmulationPrevention(bytes)
    },
  }
}

/** Two zero bytes may not be followed by a byte below 4: it would read as a start code (7.4.1). */
function withEmulationPrevention(bytes: readonly number[]): Uint8Array {
  const guarded: number[] = []
  let zeros = 0
  for (const byte of bytes) {
    if (zeros >= 2 && byte <= 3) {
      guarded.push(3)
      zeros = 0
    }
    guarded.push(byte)
    zeros = byte === 0 ? zeros + 1 : 0
  }
  return Uint8Array.from(guarded)
}
