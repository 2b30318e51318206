import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { Upload } from './upload.ts'

const MIB = 1024 * 1024

/** `accepts`: it takes everything at once, as a socket does whose other side reads as fast as we write. */
function openUpload(body: Buffer) {
  const received: Buffer[] = []
  const socket = new Writable({
    write(chunk: Buffer, _encoding, done) {
      received.push(chunk)
      done()
    },
  })
  const pieces = Array.from({ length: Math.ceil(body.byteLength / 65_536) }, (_, index) =>
    body.subarray(index * 65_536, (index + 1) * 65_536),
  )
  const upload = new Upload(socket, pieces, {
    progress: () => undefined,
    fail: (error) => {
      throw error
    },
  })
  socket.on('drain', () => upload.pump())
  return { upload, received, begin: () => upload.begin('HEAD', body.byteLength) }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
const bytesOf = (received: readonly Buffer[]) =>
  received.reduce((sum, { byteLength }) => sum + byteLength, 0) - 'HEAD'.length

test('a receiver that takes everything at once does not stop the process: other work comes in between', async () => {
  const body = Buffer.alloc(10 * MIB, 'a large body ')
  const { upload, received, begin } = openUpload(body)
  begin()
  let before = bytesOf(received)
  for (let turns = 0; turns < 100 && !upload.done; turns++) {
    await turn()
    const now = bytesOf(received)
    expect(now - before).toBeLessThanOrEqual(2 * MIB)
    before = now
  }
  expect(Buffer.concat(received).subarray(4).equals(body)).toBe(true)
})

test('one that was stopped sends nothing more', async () => {
  const { upload, received, begin } = openUpload(Buffer.alloc(10 * MIB))
  begin()
  await turn()
  upload.stop()
  const before = bytesOf(received)
  await turn()
  await turn()
  expect(bytesOf(received)).toBe(before)
  expect(upload.done).toBe(false)
})
