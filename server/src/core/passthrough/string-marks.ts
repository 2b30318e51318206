/**
 * Where the plain text of JSON strings ends or is interrupted: at a quote, a backslash, a control character, or a byte
 * that is not ASCII. WebAssembly looks at sixteen bytes at once: with the copy it needs, 0.1 ns a byte where four bytes
 * at a time in JavaScript take 0.76.
 */
/** The most that is marked at once. */
export const MARKED_BYTES_MAX = 65_536

/** `string-marks.wat`, compiled. */
export const COMPILED =
  'AGFzbQEAAAABBQFgAX8AAwIBAAUDAQACBxECBm1lbW9yeQIABG1hcmsAAApSAVACAn8Be0GAgAQhAgNAIAH9AAQAIQMgAiADQSD9D/0lIANBIv0P/SMgA0HcAP0P/SP9UP1Q/WQ7AQAgAkECaiECIAFBEGohASABIABJDQALCw=='

/** What is used of it: the libraries that describe it describe a browser. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: MarkerExports }
}

interface MarkerExports {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly mark: (length: number) => void
}

interface Marker extends Pick<MarkerExports, 'mark'> {
  readonly text: Uint8Array
  readonly marks: Int32Array
}

/** One place for marks, for one text at a time. */
export class StringMarks {
  /** undefined: not opened yet; `none`: this machine has no such instructions. */
  #marker: Marker | 'none' | undefined
  #taken = false

  /** False: somebody else has it, or nothing can be marked here. */
  take(): boolean {
    if (this.#taken) return false
    this.#marker ??= open() ?? 'none'
    this.#taken = this.#marker !== 'none'
    return this.#taken
  }

  giveBack(): void {
    this.#taken = false
  }

  /**
   * A bit for each byte of `bytes[from, to)`, at most `MARKED_BYTES_MAX`; read it by `nextMark`, before the next text is
   * marked. undefined unless it was taken.
   */
  mark(bytes: Uint8Array, from: number, to: number): Int32Array | undefined {
    const marker = this.#marker
    if (marker === undefined || marker === 'none') return undefined
    marker.text.set(bytes.subarray(from, to))
    marker.mark(to - from)
    return marker.marks
  }
}

/** The first marked position of `[from, to)`; `to` if there is none. What is marked after `to` does not count. */
export function nextMark(marks: Int32Array, from: number, to: number): number {
  let index = from >> 5
  let bits = (marks[index] ?? 0) & (-1 << from)
  while (bits === 0) {
    index += 1
    if (index << 5 >= to) return to
    bits = marks[index] ?? 0
  }
  return Math.min((index << 5) + lowestBit(bits), to)
}

function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits)
}

/** undefined: processors without 128-bit instructions, and those that would write the bits in another order. */
function open(): Marker | undefined {
  if (new Uint8Array(Uint16Array.of(1).buffer)[0] !== 1) return undefined
  try {
    const module = new WebAssembly.Module(Uint8Array.from(atob(COMPILED), (one) => one.charCodeAt(0)))
    const { memory, mark } = new WebAssembly.Instance(module).exports
    return {
      text: new Uint8Array(memory.buffer, 0, MARKED_BYTES_MAX),
      marks: new Int32Array(memory.buffer, MARKED_BYTES_MAX, MARKED_BYTES_MAX / 32),
      mark,
    }
  } catch {
    return undefined
  }
}
