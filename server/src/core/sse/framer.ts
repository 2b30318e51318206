/**
 * Cuts a byte stream into server-sent events: the one framer of the product. Line ends LF, CR and CRLF, a byte order
 * mark, comments, `data:` with or without a space and over several lines, and cuts at any byte (WHATWG HTML §9.2.6).
 *
 * It is a cursor: `push` a piece, then `next` until it says false; each `next` moves to one block (the lines up to and
 * with a blank one) and shows its bytes in place. Blocks laid end to end are exactly the bytes pushed, so what is not
 * to be changed can be passed on as it came. Nothing is decoded and nothing copied unless a block was cut. The lines of
 * a cut block are read as they come, so that its end is no more work than its last piece; `peek` shows its data so far.
 */

/**
 * The largest block kept while it is incomplete. A generated image arrives as one event of base64: the largest seen are
 * near 40 MB; an upstream that sends more without a blank line is broken.
 */
export const SSE_EVENT_BYTES_MAX = 64 * 1024 * 1024
/** The same for a block whose data is several lines: they have to be joined, and large ones do not occur in this form. */
const LINES_BYTES_MAX = 4 * 1024 * 1024

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const COLON = 0x3a
const SPACE = 0x20
const NONE = new Uint8Array(0)
const FIRST_HOLD_BYTES = 1024
/**
 * A block larger than this gets the maximum buffer at once: memory pages that are not written to cost nothing, copies
 * do.
 */
const DOUBLED_HOLD_BYTES_MAX = 4 * 1024 * 1024
const DATA_COLON = 'data:'.length

export class SseFramer {
  /** The memory the current block lies in: the piece pushed last, or a copy that joins a cut block. */
  bytes: Uint8Array = NONE
  /** The current block, its blank line included, in `bytes`. */
  start = 0
  end = 0
  /** `data` lines of the block; 0: it is no event (comments, lone blank lines) and only passes through. */
  dataLines = 0
  /** Data of a block of one data line, in `bytes`. For several lines see `data`. */
  dataStart = 0
  dataEnd = 0
  /** Value of the last `event` line, in `bytes`; equal when there was none. */
  eventStart = 0
  eventEnd = 0
  /** A block exceeded the limit: nothing more is returned. */
  overflow = false

  readonly #eventBytesMax: number
  #piece: Uint8Array = NONE
  /** Start of the next block in the piece, and of the line being looked for. */
  #at = 0
  #lineAt = 0
  /** Next LF and CR in the piece at or after `#lineAt`; its length when there is none. */
  #lineFeed = 0
  #carriageReturn = 0
  /** Beginning of a block that is not complete yet. */
  #held: Uint8Array = NONE
  #heldLength = 0
  /** Where the held block's last line, which has no end yet, begins in it. */
  #heldLine = 0
  /** The last byte pushed was a CR that ended a line: a following LF belongs to it. */
  #afterCarriageReturn = false
  /** No block has been opened yet: a byte order mark may stand first. */
  #atStreamStart = true
  /** Data spans of a block with several data lines, start and end alternating. */
  readonly #spans: number[] = []

  constructor(eventBytesMax: number = SSE_EVENT_BYTES_MAX) {
    this.#eventBytesMax = eventBytesMax
  }

  /** Adds the next piece of the stream. The one before must have been read to the end with `next`. */
  push(piece: Uint8Array): void {
    this.#piece = piece
    this.#at = 0
    this.#lineAt = 0
    this.#lineFeed = -1
    this.#carriageReturn = -1
  }

  /** Moves to the next complete block; false if the piece has no more, and the piece is then released. */
  next(): boolean {
    if (this.overflow || this.#at >= this.#piece.length) return this.#letGo()
    if (this.#afterCarriageReturn) {
      this.#afterCarriageReturn = false
      if (this.#piece[this.#at] === LINE_FEED) {
        if (this.#heldLength === 0) return this.#lineFeedAlone()
        if (!this.#hold(this.#piece, this.#at, this.#at + 1)) return this.#letGo()
        this.#at++
        this.#lineAt = this.#at
        this.#heldLine = this.#heldLength
      }
    }
    return this.#heldLength === 0 ? this.#nextInPlace() : this.#nextHeld()
  }

  /**
   * The stream is over: moves to the last block if it has no blank line. Some upstreams omit it; only the reader can
   * decide whether the data is complete.
   */
  finish(): boolean {
    if (this.overflow || this.#heldLength === 0) return false
    this.#passByteOrderMark()
    this.#readHeldLine(this.#heldLength)
    this.#showHeld()
    return true
  }

  /**
   * After `next` returned false: whether `bytes`, from `dataStart` to `dataEnd`, is data of an incomplete block, in a
   * single line so far. More of it will follow at the same position, in these or other `bytes`.
   */
  peek(): boolean {
    if (this.#heldLength === 0 || this.dataLines > 1) return false
    this.bytes = this.#held
    if (this.dataLines === 1) return true
    const from = this.#atStreamStart ? afterByteOrderMark(this.#held, 0) : this.#heldLine
    if (!isData(this.#held, from, this.#heldLength) || this.#heldLength <= from + DATA_COLON) return false
    this.dataStart = valueStart(this.#held, from + DATA_COLON - 1, this.#heldLength)
    this.dataEnd = this.#heldLength
    return true
  }

  /** Bytes of the block that is not complete yet. */
  get heldBytes(): number {
    return this.#heldLength
  }

  /** The current block's data, lines joined by LF: a view where it lies in one line, a copy otherwise. */
  data(): Uint8Array {
    if (this.dataLines <= 1) return this.bytes.subarray(this.dataStart, this.dataEnd)
    const spans = this.#spans
    let length = this.dataLines - 1
    for (let index = 0; index < spans.length; index += 2)
      length += (spans[index + 1] ?? 0) - (spans[index] ?? 0)
    const joined = new Uint8Array(length)
    let at = 0
    for (let index = 0; index < spans.length; index += 2) {
      const line = this.bytes.subarray(spans[index], spans[index + 1])
      joined.set(line, at)
      at += line.length
      if (at < length) joined[at++] = LINE_FEED
    }
    return joined
  }

  /** Where byte `offset` of `data()` lies in `bytes`. */
  place(offset: number): number {
    if (this.dataLines <= 1) return this.dataStart + offset
    const spans = this.#spans
    let left = offset
    for (let index = 0; index < spans.length; index += 2) {
      const from = spans[index] ?? 0
      const length = (spans[index + 1] ?? 0) - from
      if (left <= length) return from + left
      left -= length + 1
    }
    return this.dataEnd
  }

  /** A stream may be idle for minutes, so it keeps only the memory it needs. */
  #letGo(): false {
    this.#piece = NONE
    this.#at = 0
    this.bytes = NONE
    if (this.#heldLength === 0) this.dataLines = 0
    return false
  }

  /** A block whose lines all lie in the piece. */
  #nextInPlace(): boolean {
    const piece = this.#piece
    this.#open(piece, this.#at)
    let line = this.#atStreamStart ? afterByteOrderMark(piece, this.#lineAt) : this.#lineAt
    for (;;) {
      const lineEnd = this.#findLineEnd(line)
      if (lineEnd >= piece.length) {
        this.#holdOpen(piece, line)
        return this.#letGo()
      }
      this.#atStreamStart = false
      const after = this.#afterLineEnd(lineEnd)
      if (lineEnd === line) {
        this.end = after
        this.#at = after
        this.#lineAt = after
        return true
      }
      this.#readLine(piece, line, lineEnd)
      line = after
    }
  }

  /** Adds the piece to the held block, line by line, up to the end of either. */
  #nextHeld(): boolean {
    const piece = this.#piece
    for (;;) {
      const lineEnd = this.#findLineEnd(this.#lineAt)
      const isCut = lineEnd >= piece.length
      const after = isCut ? piece.length : this.#afterLineEnd(lineEnd)
      const heldLineEnd = this.#heldLength + lineEnd - this.#at
      if (!this.#hold(piece, this.#at, after) || isCut) return this.#letGo()
      this.#at = after
      this.#lineAt = after
      this.#passByteOrderMark()
      if (heldLineEnd === this.#heldLine) {
        this.#showHeld()
        return true
      }
      this.#readHeldLine(heldLineEnd)
      this.#heldLine = this.#heldLength
      if (this.dataLines > 1 && this.#heldLength > LINES_BYTES_MAX) return this.#overflow()
    }
  }

  /** The LF of a CRLF whose CR ended a block at the end of the piece before. */
  #lineFeedAlone(): boolean {
    this.#open(this.#piece, this.#at)
    this.#at++
    this.#lineAt = this.#at
    this.end = this.#at
    return true
  }

  /** A block that continues in the next piece; `line`: where its last line begins in this one. */
  #holdOpen(piece: Uint8Array, line: number): void {
    const from = this.#at
    this.#heldLine = line - from
    this.dataStart -= from
    this.dataEnd -= from
    this.eventStart -= from
    this.eventEnd -= from
    if (this.dataLines > 1)
      for (let index = 0; index < this.#spans.length; index++)
        this.#spans[index] = (this.#spans[index] ?? 0) - from
    this.#hold(piece, from, piece.length)
  }

  #readHeldLine(end: number): void {
    if (end > this.#heldLine) this.#readLine(this.#held, this.#heldLine, end)
  }

  /** The held block is complete: it becomes the current one, and its memory is handed to the reader. */
  #showHeld(): void {
    this.bytes = this.#held
    this.start = 0
    this.end = this.#heldLength
    this.#held = NONE
    this.#heldLength = 0
  }

  /** The first line of the stream is complete; before that the byte order mark may be cut. */
  #passByteOrderMark(): void {
    if (!this.#atStreamStart) return
    this.#atStreamStart = false
    this.#heldLine = afterByteOrderMark(this.#held, 0)
  }

  #open(bytes: Uint8Array, start: number): void {
    this.bytes = bytes
    this.start = start
    this.dataLines = 0
    this.dataStart = start
    this.dataEnd = start
    this.eventStart = start
    this.eventEnd = start
  }

  /** `data` and `event` are read; `id`, `retry`, comments and unknown fields are only passed on. */
  #readLine(bytes: Uint8Array, from: number, to: number): void {
    if (isData(bytes, from, to)) {
      const start = valueStart(bytes, from + 4, to)
      this.dataLines++
      if (this.dataLines === 1) {
        this.dataStart = start
        this.dataEnd = to
        return
      }
      if (this.dataLines === 2) {
        this.#spans.length = 0
        this.#spans.push(this.dataStart, this.dataEnd)
      }
      this.#spans.push(start, to)
      this.dataEnd = to
      return
    }
    if (
      bytes[from] === 0x65 &&
      bytes[from + 1] === 0x76 &&
      bytes[from + 2] === 0x65 &&
      bytes[from + 3] === 0x6e &&
      bytes[from + 4] === 0x74 &&
      (to === from + 5 || bytes[from + 5] === COLON)
    ) {
      this.eventStart = valueStart(bytes, from + 5, to)
      this.eventEnd = to
    }
  }

  /** Position of the next line end at or after `from`; the piece's length when it has none. */
  #findLineEnd(from: number): number {
    const piece = this.#piece
    if (this.#lineFeed < from) {
      const found = piece.indexOf(LINE_FEED, from)
      this.#lineFeed = found < 0 ? piece.length : found
    }
    if (this.#carriageReturn < from) {
      const found = piece.indexOf(CARRIAGE_RETURN, from)
      this.#carriageReturn = found < 0 ? piece.length : found
    }
    return this.#lineFeed < this.#carriageReturn ? this.#lineFeed : this.#carriageReturn
  }

  #afterLineEnd(lineEnd: number): number {
    if (lineEnd !== this.#carriageReturn) return lineEnd + 1
    if (lineEnd + 1 === this.#piece.length) this.#afterCarriageReturn = true
    return this.#piece[lineEnd + 1] === LINE_FEED ? lineEnd + 2 : lineEnd + 1
  }

  /** Adds to the held block; false if it exceeds the limit. */
  #hold(piece: Uint8Array, from: number, to: number): boolean {
    const length = this.#heldLength + to - from
    if (length > this.#eventBytesMax) return this.#overflow()
    if (length > this.#held.length) {
      const doubled = length > DOUBLED_HOLD_BYTES_MAX ? this.#eventBytesMax : length * 2
      const grown = new Uint8Array(Math.min(this.#eventBytesMax, Math.max(FIRST_HOLD_BYTES, doubled)))
      grown.set(this.#held.subarray(0, this.#heldLength))
      this.#held = grown
    }
    this.#held.set(from === 0 && to === piece.length ? piece : piece.subarray(from, to), this.#heldLength)
    this.#heldLength = length
    return true
  }

  #overflow(): false {
    this.overflow = true
    this.#held = NONE
    this.#heldLength = 0
    return this.#letGo()
  }
}

/** Whether the line is one of data. */
function isData(bytes: Uint8Array, from: number, to: number): boolean {
  return (
    bytes[from] === 0x64 &&
    bytes[from + 1] === 0x61 &&
    bytes[from + 2] === 0x74 &&
    bytes[from + 3] === 0x61 &&
    (to === from + 4 || bytes[from + 4] === COLON)
  )
}

function valueStart(bytes: Uint8Array, colon: number, to: number): number {
  if (colon >= to) return to
  return colon + 1 < to && bytes[colon + 1] === SPACE ? colon + 2 : colon + 1
}

function afterByteOrderMark(bytes: Uint8Array, at: number): number {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf ? at + 3 : at
}
