/**
 * What a call needs of HTTP. There are two implementations: one over `node:http`, and one that reads requests of the plain shape
 * itself (`../fast-lane/`).
 */

/** The body of a request, as it arrives. */
export interface BodySource {
  /** Begins to read; called once at most. */
  read(reader: BodyReader): void
  pause(): void
  resume(): void
}

export interface BodyReader {
  take(chunk: Buffer): void
  /** All of it has arrived; also called while reading is paused. */
  arrived(): void
  /** The connection has ended, perhaps before the body. */
  cut(): void
}

/** The answer on its connection. */
export interface Wire {
  /** All of the request has arrived. */
  readonly requestRead: boolean
  /** All of the answer was handed to the operating system. */
  readonly sent: boolean
  listen(listener: WireListener): void
  /** May wait for the first bytes of the body. Without a `content-length` the body is chunked. */
  start(status: number, headers: Readonly<Record<string, string | number>>): void
  /** False: the client reads more slowly than it is written to; `drained` follows. */
  write(chunk: Uint8Array | string): boolean
  end(): void
  /** Reads what is left of the request and calls `onBytes` with the size of each piece; `onEnd` at the end of the connection. */
  discard(onBytes: (bytes: number) => void, onEnd: () => void): void
  /** Closes the connection at once. */
  destroy(): void
}

export interface WireListener {
  /** The answer was sent, or its connection has ended. */
  closed(): void
  drained(): void
}

/**
 * Longest chunk, in bytes or characters, that is copied into its frame; copying a longer one costs more than sending it
 * in pieces.
 */
const FRAMED_LENGTH_MAX = 16_384

/** Whether `frameOf` takes the chunk: an empty frame would end the body. */
export function isFramed(chunk: Uint8Array | string): boolean {
  return chunk.length > 0 && chunk.length <= FRAMED_LENGTH_MAX
}

/** A chunk as HTTP/1.1 frames it (RFC 9112 §7.1), after `before`, which has one character per byte. */
export function frameOf(chunk: Uint8Array | string, before = ''): Buffer {
  const length = byteLengthOf(chunk)
  const size = length.toString(16)
  const frame = Buffer.allocUnsafe(before.length + size.length + length + 4)
  let at = before === '' ? 0 : frame.write(before, 'latin1')
  for (let digit = 0; digit < size.length; digit++) frame[at++] = size.charCodeAt(digit)
  frame[at++] = CARRIAGE_RETURN
  frame[at++] = LINE_FEED
  if (typeof chunk === 'string') frame.write(chunk, at)
  else frame.set(chunk, at)
  at += length
  frame[at++] = CARRIAGE_RETURN
  frame[at] = LINE_FEED
  return frame
}

export function byteLengthOf(chunk: Uint8Array | string): number {
  return typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.byteLength
}

const CARRIAGE_RETURN = 0x0d
const LINE_FEED = 0x0a
