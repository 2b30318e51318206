/** What every blob store must fulfil, independent of where it keeps bytes. */
import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { BlobTooLarge } from './failures/blob-too-large.ts'
import type { BlobStore } from './stores/blobs.ts'
import { bytesInBuffers } from '../../test/bytes-in-buffers.ts'

const MIB = 1_024 * 1_024
const KEY = 'videos/video_1.mp4'
const MP4 = { mediaType: 'video/mp4', maxBytes: 64 * MIB }

export interface BlobSuiteOptions {
  /** Why the server behind the store does not support it. */
  readonly oneWriterOnly?: string
}

export function describeBlobs(
  name: string,
  store: () => BlobStore,
  { oneWriterOnly }: BlobSuiteOptions = {},
): void {
  describe(`blobs on ${name}`, () => {
    test('what was put comes back, with its length, hash and media type', async () => {
      const bytes = randomBytes(3 * MIB + 17)
      expect(await store().put(KEY, chunksOf(bytes, 100_000), MP4)).toEqual({
        bytes: bytes.length,
        sha256: sha256(bytes),
      })
      expect(await store().find(KEY)).toEqual({ bytes: bytes.length, mediaType: 'video/mp4' })
      const opened = await store().open(KEY)
      expect(opened).toMatchObject({ bytes: bytes.length, mediaType: 'video/mp4' })
      expect(sha256(await readBody(opened))).toBe(sha256(bytes))
    })

    test('a blob of more than one part is whole', async () => {
      const bytes = randomBytes(20 * MIB + 1)
      await store().put(KEY, chunksOf(bytes, 1_000_003), MP4)
      expect(sha256(await readBody(await store().open(KEY)))).toBe(sha256(bytes))
    })

    test('an empty blob is one', async () => {
      expect(await store().put(KEY, chunksOf(Buffer.alloc(0), 1), MP4)).toEqual({
        bytes: 0,
        sha256: sha256(Buffer.alloc(0)),
      })
      expect(await store().find(KEY)).toEqual({ bytes: 0, mediaType: 'video/mp4' })
      expect(await readBody(await store().open(KEY))).toHaveLength(0)
    })

    test.each([
      { start: 0, end: 0 },
      { start: 0, end: 99_999 },
      { start: 65_535, end: 65_536 },
      { start: 99_999, end: 99_999 },
      { start: 300_000, end: 699_999 },
    ])('bytes $start to $end are given, both included', async ({ start, end }) => {
      const bytes = randomBytes(700_000)
      await store().put(KEY, chunksOf(bytes, 64_000), MP4)
      const opened = await store().open(KEY, { start, end })
      expect(opened?.bytes).toBe(bytes.length)
      expect((await readBody(opened)).equals(bytes.subarray(start, end + 1))).toBe(true)
    })

    test('there is nothing under a key that was never put, or was removed', async () => {
      expect(await store().find('videos/unknown.mp4')).toBeUndefined()
      expect(await store().open('videos/unknown.mp4')).toBeUndefined()
      await store().put(KEY, chunksOf(Buffer.from('x'), 1), MP4)
      await store().remove(KEY)
      expect(await store().find(KEY)).toBeUndefined()
      expect(await store().open(KEY)).toBeUndefined()
      await store().remove(KEY)
    })

    test('one more byte than is allowed, and nothing is kept', async () => {
      const bytes = randomBytes(1_001)
      const options = { mediaType: 'video/mp4', maxBytes: 1_000 }
      await expect(store().put(KEY, chunksOf(bytes, 100), options)).rejects.toThrow(BlobTooLarge)
      expect(await store().find(KEY)).toBeUndefined()
      await store().put(KEY, chunksOf(bytes.subarray(1), 100), options)
      expect(await store().find(KEY)).toMatchObject({ bytes: 1_000 })
    })

    test.each([10, 11 * MIB])(
      'a source that breaks after %i bytes says why, and leaves nothing',
      async (size) => {
        const broken = new Error('the vendor hung up')
        await expect(store().put(KEY, breaking(size, broken), MP4)).rejects.toBe(broken)
        expect(await store().find(KEY)).toBeUndefined()
      },
    )

    test('a blob that is put again replaces the first, and a failed one does not', async () => {
      await store().put(KEY, chunksOf(Buffer.from('first'), 2), MP4)
      await store().put(KEY, chunksOf(Buffer.from('second one'), 2), { ...MP4, mediaType: 'image/png' })
      const fail = store().put(KEY, breaking(5, new Error('gone')), MP4)
      await expect(fail).rejects.toThrow('gone')
      expect(await store().find(KEY)).toEqual({ bytes: 10, mediaType: 'image/png' })
      expect((await readBody(await store().open(KEY))).toString()).toBe('second one')
    })

    test('ten writers of one key leave the whole blob of one of them', async ({ skip }) => {
      if (oneWriterOnly !== undefined) skip(oneWriterOnly)
      const blobs = Array.from({ length: 10 }, () => randomBytes(200_000))
      await Promise.all(blobs.map((bytes) => store().put(KEY, chunksOf(bytes, 10_000), MP4)))
      const left = sha256(await readBody(await store().open(KEY)))
      expect(blobs.map(sha256)).toContain(left)
    })

    test('keys of one folder, and a key that is the folder of another, do not meet', async () => {
      const keys = ['a', 'a/b', 'a/b/c', 'a/b.type', 'A2']
      for (const key of keys) await store().put(key, chunksOf(Buffer.from(key), 9), MP4)
      for (const key of keys) expect((await readBody(await store().open(key))).toString()).toBe(key)
      await store().remove('a/b')
      expect(await store().find('a/b.type')).toBeDefined()
      expect(await store().find('a/b/c')).toBeDefined()
    })

    test.each([
      '',
      '/',
      'a/',
      '/a',
      '../a',
      'a/../b',
      'a/./b',
      '.a',
      '_a',
      'a\\b',
      'a b',
      'a\0b',
      'é',
      'a'.repeat(129),
    ])('the key %j is refused', async (key) => {
      await expect(store().put(key, chunksOf(Buffer.from('x'), 1), MP4)).rejects.toThrow('no key')
      await expect(store().open(key)).rejects.toThrow('no key')
      await expect(store().find(key)).rejects.toThrow('no key')
      await expect(store().remove(key)).rejects.toThrow('no key')
    })

    test('a reader that stops early, or never begins, leaves the store usable', async () => {
      await store().put(KEY, chunksOf(randomBytes(5 * MIB), MIB), MP4)
      for (let round = 0; round < 60; round++) await store().open(KEY)
      for (let round = 0; round < 60; round++) {
        for await (const chunk of (await store().open(KEY))?.body ?? []) {
          expect(chunk.length).toBeGreaterThan(0)
          break
        }
      }
      expect(await readBody(await store().open(KEY))).toHaveLength(5 * MIB)
    })

    test('a source is read no faster than it is stored', async () => {
      const chunk = randomBytes(MIB)
      let most = 0
      const before = bytesInBuffers()
      async function* source() {
        for (let index = 0; index < 200; index++) {
          if (index % 20 === 0) most = Math.max(most, bytesInBuffers() - before)
          yield Buffer.from(chunk)
        }
      }
      await store().put(KEY, source(), { ...MP4, maxBytes: 200 * MIB })
      expect(most).toBeLessThan(120 * MIB)
    })

    test('a ping writes and reads', async () => {
      await store().ping(new AbortController().signal)
    })
  })
}

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

async function* breaking(size: number, error: Error): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < size; sent += MIB) yield Buffer.alloc(Math.min(MIB, size - sent))
  throw error
}

async function readBody(opened: { readonly body: AsyncIterable<Uint8Array> } | undefined): Promise<Buffer> {
  if (opened === undefined) throw new Error('there is no blob')
  const chunks: Uint8Array[] = []
  for await (const chunk of opened.body) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
