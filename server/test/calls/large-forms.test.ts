/** A form far larger than what is kept of it in memory reaches its vendor whole, also the second one. */
import { createHash } from 'node:crypto'
import { createServer, request as openRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bytesInBuffers } from '../bytes-in-buffers.ts'
import {
  openGateway,
  putChain,
  putModel,
  putVendor,
  type TestGateway,
  TOKEN_PRICES,
} from '../gateway/gateway.ts'
import { waveFile } from './wave-file.ts'

const MIB = 1_048_576
const PIECE = Buffer.alloc(65_536)
/** 60 MiB of silence. */
const PIECES = 960
const CHEAP = {
  ...TOKEN_PRICES,
  inputPrice: null,
  outputPrice: null,
  cacheInputPrice: null,
  billingModes: ['audio_second' as const],
  audioSecondPrice: '0.0001',
}

let gateway: TestGateway
let vendors: Server
/** What each attempt got: bytes, their hash, and what the gateway held in memory before it had read any. */
const got: { readonly length: number; readonly sha256: string; readonly heldBytes: number }[] = []

beforeAll(async () => {
  vendors = createServer((request, response) => {
    const heldBytes = bytesInBuffers()
    const hash = createHash('sha256')
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.byteLength
      hash.update(chunk)
    })
    request.on('end', () => {
      got.push({ length, sha256: hash.digest('hex'), heldBytes })
      response.writeHead(got.length === 1 ? 503 : 200, { 'content-type': 'application/json' })
      response.end('{"text":"silence"}')
    })
  })
  await new Promise<void>((resolve) => vendors.listen(0, '127.0.0.1', resolve))
  gateway = await openGateway()
  const { port } = vendors.address() as AddressInfo
  await gateway.catalogue(
    ...putVendor('one', `http://127.0.0.1:${port}`),
    ...putVendor('two', `http://127.0.0.1:${port}`),
    putModel('listener', { supportFeatures: ['audio'], pricing: CHEAP }),
    putChain({ model: 'listener', vendor: 'one', protocol: 'transcription', forward: 'listener' }),
    putChain({
      model: 'listener',
      vendor: 'two',
      protocol: 'transcription',
      forward: 'listener',
      priority: 2,
    }),
  )
})

afterAll(async () => {
  await gateway.close()
  vendors.closeAllConnections()
  await new Promise((resolve) => vendors.close(resolve))
})

test('60 MiB pass through a few of memory, and through a failover, byte for byte', async () => {
  const head = Buffer.concat([
    Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'),
    waveFile(0, (PIECES * PIECE.length) / 16_000),
  ])
  const tail = Buffer.from(
    '\r\n--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nlistener\r\n--b--\r\n',
  )
  const expected = createHash('sha256').update(head)
  for (let piece = 0; piece < PIECES; piece += 1) expected.update(PIECE)
  const sha256 = expected.update(tail).digest('hex')
  const length = head.length + PIECES * PIECE.length + tail.length
  const before = bytesInBuffers()
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const sending = openRequest(`${gateway.baseUrl}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'multipart/form-data; boundary=b',
        'content-length': length,
      },
    })
    sending.on('response', (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode))
    })
    sending.on('error', reject)
    const write = async (): Promise<void> => {
      sending.write(head)
      for (let piece = 0; piece < PIECES; piece += 1)
        if (!sending.write(PIECE)) await new Promise((written) => sending.once('drain', written))
      sending.end(tail)
    }
    write().catch(reject)
  })
  expect(status).toBe(200)
  expect(got.map((attempt) => [attempt.length, attempt.sha256])).toEqual([
    [length, sha256],
    [length, sha256],
  ])
  for (const { heldBytes } of got) expect(heldBytes - before).toBeLessThan(16 * MIB)
  expect(await gateway.lastLog()).toMatchObject({ audioSeconds: 3_932.16, ending: 'complete' })
})
