/** The answers of played calls, read out of what a client got. */

export interface ReadAnswer {
  readonly index: number
  /** It says that it is the last one. */
  readonly closes: boolean
  /** As far as it came. */
  readonly body: Buffer
  readonly whole: boolean
}

const HEAD_END = '\r\n\r\n'

/** The last one may have been cut. Throws if anything else is between them. */
export function readAnswers(bytes: Buffer): readonly ReadAnswer[] {
  const answers: ReadAnswer[] = []
  for (let at = 0; at < bytes.byteLength; ) {
    const end = bytes.indexOf(HEAD_END, at)
    if (end === -1) {
      if (!'HTTP/1.1 20'.startsWith(bytes.toString('latin1', at, at + 11)))
        throw new Error('no answer begins where the one before ends')
      break
    }
    const head = bytes.toString('latin1', at, end + 2)
    const index = Number(/^HTTP\/1\.1 20[04] [^]*?\r\nx-index: (\d+)\r\n/.exec(head)?.[1])
    if (Number.isNaN(index)) throw new Error(`no answer: ${head.slice(0, 200)}`)
    const read = readBody(bytes, end + HEAD_END.length, head)
    answers.push({
      index,
      closes: /\r\nconnection: close\r\n/i.test(head),
      body: read.body,
      whole: read.whole,
    })
    at = read.end
  }
  return answers
}

interface ReadBody {
  readonly body: Buffer
  readonly whole: boolean
  readonly end: number
}

function readBody(bytes: Buffer, from: number, head: string): ReadBody {
  if (/\r\ntransfer-encoding: chunked\r\n/i.test(head)) return readChunks(bytes, from)
  const length = Number(/\r\ncontent-length: (\d+)\r\n/.exec(head)?.[1] ?? 0)
  const end = Math.min(from + length, bytes.byteLength)
  return { body: bytes.subarray(from, end), whole: end - from === length, end }
}

function readChunks(bytes: Buffer, from: number): ReadBody {
  const pieces: Buffer[] = []
  const cut = (): ReadBody => ({ body: Buffer.concat(pieces), whole: false, end: bytes.byteLength })
  for (let at = from; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd === -1) return cut()
    const line = bytes.toString('latin1', at, lineEnd)
    if (!/^[\da-f]+$/.test(line)) throw new Error(`no chunk begins with ${JSON.stringify(line.slice(0, 50))}`)
    const size = Number.parseInt(line, 16)
    const end = lineEnd + 2 + size
    pieces.push(bytes.subarray(lineEnd + 2, end))
    if (end + 2 > bytes.byteLength) return cut()
    if (bytes.toString('latin1', end, end + 2) !== '\r\n') throw new Error('a chunk is longer than it says')
    if (size === 0) return { body: Buffer.concat(pieces), whole: true, end: end + 2 }
    at = end + 2
  }
}
