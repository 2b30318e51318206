import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openS3Server, type S3Server } from '../../../test/s3/server.ts'
import { Secret } from '../../core/secret.ts'
import { describeBlobs } from '../blobs.conformance.ts'
import type { BlobStore } from '../stores/blobs.ts'
import { openBlobs } from '../open-blobs.ts'
import { StorageUnavailable } from '../failures/unavailable.ts'

let server: S3Server
let store: BlobStore
let tests = 0

beforeAll(async () => {
  server = await openS3Server()
})
afterAll(() => server.close())
beforeEach(async () => {
  tests += 1
  store = await open({ prefix: `test-${tests}` })
})
afterEach(() => store.close())

function open(
  changes: { readonly prefix?: string; readonly bucket?: string; readonly endpoint?: string } = {},
) {
  const { bucket, endpoint, accessKeyId, secretAccessKey } = server
  const credentials = { accessKeyId, secretAccessKey: new Secret(secretAccessKey), sessionToken: undefined }
  return openBlobs(
    { kind: 's3', bucket, prefix: '', endpoint, region: undefined, pathStyle: true, credentials, ...changes },
    Date.now,
  )
}

describeBlobs('S3', () => store, {
  oneWriterOnly: 's3rver writes into the object in place; S3 itself puts whole objects',
})

const OPTIONS = { mediaType: 'text/plain', maxBytes: 1_000 }

async function* text(part: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(part)
}

test('a prefix keeps two users of one bucket apart', async () => {
  const other = await open({ prefix: `test-${tests}-other` })
  await store.put('a', text('mine'), OPTIONS)
  expect(await other.find('a')).toBeUndefined()
  await other.close()
})

test('a bucket that is not there is said to be unavailable', async () => {
  const other = await open({ bucket: 'no-such-bucket' })
  await expect(other.ping(new AbortController().signal)).rejects.toThrow(StorageUnavailable)
  await expect(other.put('a', text('x'), OPTIONS)).rejects.toThrow(StorageUnavailable)
  await other.close()
})

test('a store that does not answer is said to be unavailable', async () => {
  const refusing = createServer()
  await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve))
  const address = refusing.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  await new Promise((resolve) => refusing.close(resolve))
  const other = await open({ endpoint: `http://127.0.0.1:${port}` })
  await expect(other.find('a')).rejects.toThrow(StorageUnavailable)
  await expect(other.put('a', text('x'), OPTIONS)).rejects.toThrow(StorageUnavailable)
  await other.close()
})

test('a store that takes connections and says nothing is waited for no longer than the asker wants', async () => {
  const patience = new AbortController()
  const sockets = new Set<Socket>()
  const silent = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('data', () => patience.abort())
  })
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const other = await open({ endpoint: `http://127.0.0.1:${port}` })
  await expect(other.ping(patience.signal)).rejects.toThrow(StorageUnavailable)
  await other.close()
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => silent.close(resolve))
})
