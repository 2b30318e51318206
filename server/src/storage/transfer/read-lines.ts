import { ArchiveDamaged } from './archive.ts'

/** A row holds one conversation at most; a longer line is not from an archive. */
const LINE_BYTES_MAX = 256 * 1024 ** 2
const LINE_BREAK = 0x0a

/**
 * Lines of UTF-8, without their breaks; text after the last line break is dropped, because a complete archive has none.
 */
export async function* readLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let parts: Uint8Array[] = []
  let length = 0
  for await (const chunk of source) {
    let from = 0
    for (;;) {
      const end = chunk.indexOf(LINE_BREAK, from)
      if (end === -1) break
      parts.push(chunk.subarray(from, end))
      yield Buffer.concat(parts).toString('utf8')
      parts = []
      length = 0
      from = end + 1
    }
    if (from === chunk.length) continue
    parts.push(chunk.subarray(from))
    length += chunk.length - from
    if (length > LINE_BYTES_MAX) throw new ArchiveDamaged('a line is longer than any row can be')
  }
}
