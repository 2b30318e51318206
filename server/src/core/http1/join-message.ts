/** A `Buffer`, which the core does not have. */
export interface MessageBytes extends Uint8Array {
  write(text: string, encoding: 'latin1'): number
  write(text: string, offset: number): number
}

/**
 * Fills `bytes` with a message, so that it is sent in one write.
 * @param head one character per byte; the other texts become UTF-8
 */
export function joinMessage<Bytes extends MessageBytes>(
  bytes: Bytes,
  head: string,
  pieces: readonly (Uint8Array | string)[],
): Bytes {
  let at = bytes.write(head, 'latin1')
  for (const piece of pieces) {
    if (typeof piece === 'string') at += bytes.write(piece, at)
    else {
      bytes.set(piece, at)
      at += piece.byteLength
    }
  }
  return bytes
}
