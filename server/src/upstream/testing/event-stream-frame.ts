import { crc32 } from 'node:zlib'

/** One frame of AWS's event stream with string headers. */
export function eventStreamFrame(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const encoded = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const head = Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7, 0, 0])])
      head.writeUInt16BE(value.length, head.byteLength - 2)
      return Buffer.concat([head, Buffer.from(value)])
    }),
  )
  const body = Buffer.from(payload)
  const total = 12 + encoded.byteLength + body.byteLength + 4
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(total, 0)
  prelude.writeUInt32BE(encoded.byteLength, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const frame = Buffer.concat([prelude, encoded, body, Buffer.alloc(4)])
  frame.writeUInt32BE(crc32(frame.subarray(0, total - 4)), total - 4)
  return frame
}
