/** Reads a form that is partly in memory and partly in a file. */
import { readSync } from 'node:fs'
import type { Span } from '../../../core/passthrough/splice.ts'
import type { SentFile, SentFiles } from '../../../providers/provider.ts'
import type { FormBytes, ReadForm } from './work.ts'

/** Reads the content of one part: bytes from `start` on, up to `end` or the content's end. */
export function readerOf({ head, descriptor }: FormBytes, span: Span) {
  return (start: number, end: number): Uint8Array => {
    const from = span.start + start
    const to = Math.min(span.start + end, span.end)
    if (to <= head.byteLength) return head.subarray(from, to)
    const bytes = new Uint8Array(to - from)
    const inHead = head.subarray(from, to)
    bytes.set(inHead)
    let at = inHead.byteLength
    while (at < bytes.byteLength && descriptor !== undefined) {
      const got = readSync(descriptor, bytes, at, bytes.byteLength - at, from + at - head.byteLength)
      if (got === 0) throw new Error('the file of a body is shorter than it was')
      at += got
    }
    return bytes
  }
}

export function sentFiles({ files, soundSeconds }: ReadForm, bytes: FormBytes): SentFiles {
  const sent = files.map(({ name, start, end }): SentFile => {
    const size = end - start
    return { name, size, bytes: () => readerOf(bytes, { start, end })(0, size) }
  })
  return { files: sent, soundSeconds }
}
