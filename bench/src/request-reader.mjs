/**
 * Reads just enough HTTP to know where a request ends, however it is cut into packets, without keeping its body. Calls
 * `onRequest` with the head when the last byte of the body has been seen.
 */
const HEAD_END = '\r\n\r\n'

export function requestReader(onRequest) {
  let waiting = Buffer.alloc(0)
  let head = ''
  let remaining = 0
  let state = 'head'

  const finish = () => {
    state = 'head'
    onRequest(head)
  }
  const readHead = (bytes) => {
    const end = bytes.indexOf(HEAD_END)
    if (end === -1) return undefined
    head = bytes.latin1Slice(0, end)
    remaining = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
    state = /\r\ntransfer-encoding: *chunked/i.test(head) ? 'chunk-size' : 'body'
    if (state === 'body' && remaining === 0) finish()
    return end + HEAD_END.length
  }
  const skip = (bytes, then) => {
    const taken = Math.min(remaining, bytes.length)
    remaining -= taken
    if (remaining === 0) then()
    return taken
  }
  const readChunkSize = (bytes) => {
    const end = bytes.indexOf('\r\n')
    if (end === -1) return undefined
    const size = Number.parseInt(bytes.latin1Slice(0, end), 16)
    // Two more bytes end each chunk; after the last, empty one they end the body.
    remaining = size + 2
    state = size === 0 ? 'last-chunk' : 'chunk'
    return end + 2
  }
  const steps = {
    head: readHead,
    body: (bytes) => skip(bytes, finish),
    'chunk-size': readChunkSize,
    chunk: (bytes) =>
      skip(bytes, () => {
        state = 'chunk-size'
      }),
    'last-chunk': (bytes) => skip(bytes, finish),
  }
  return (data) => {
    let bytes = waiting.length === 0 ? data : Buffer.concat([waiting, data])
    waiting = Buffer.alloc(0)
    while (bytes.length > 0) {
      const used = steps[state](bytes)
      if (used === undefined) {
        waiting = bytes
        return
      }
      bytes = bytes.subarray(used)
    }
  }
}
