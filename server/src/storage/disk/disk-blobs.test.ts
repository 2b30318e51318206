import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeBlobs } from '../blobs.conformance.ts'
import type { BlobStore } from '../stores/blobs.ts'
import { openBlobs } from '../open-blobs.ts'
import { StorageUnavailable } from '../failures/unavailable.ts'

let directory = ''
let store: BlobStore
const open = () => openBlobs({ kind: 'disk', directory }, Date.now)

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-blobs-'))
  store = await open()
})
afterEach(async () => {
  await store.close()
  rmSync(directory, { recursive: true })
})

describeBlobs('a disk', () => store)

async function* text(...parts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part)
}

const OPTIONS = { mediaType: 'text/plain', maxBytes: 1_000 }

test('a blob is not there while it is written, and nothing is left aside after it', async () => {
  const seen: unknown[] = []
  async function* source() {
    yield Buffer.from('a')
    seen.push(await store.find('b'), readdirSync(join(directory, '.incoming')).length)
    yield Buffer.from('b')
  }
  await store.put('b', source(), OPTIONS)
  expect(seen).toEqual([undefined, 1])
  expect(readdirSync(join(directory, '.incoming'))).toEqual([])
  await expect(store.put('c', text('x'.repeat(1_001)), OPTIONS)).rejects.toThrow()
  expect(readdirSync(join(directory, '.incoming'))).toEqual([])
})

test('only the owner may read stored files', async () => {
  await store.put('a/b', text('x'), OPTIONS)
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
  const modes = files.map((entry) => statSync(join(entry.parentPath, entry.name)).mode & 0o077)
  expect(modes.length).toBeGreaterThan(3)
  expect(new Set(modes)).toEqual(new Set([0]))
})

test('what a dead process left aside goes at the next start, what another writes just now stays', async () => {
  await store.ping(new AbortController().signal)
  const old = join(directory, '.incoming', 'old')
  writeFileSync(old, 'x')
  writeFileSync(join(directory, '.incoming', 'new'), 'x')
  const before = new Date(Date.now() - 2 * 60 * 60_000)
  utimesSync(old, before, before)
  await open()
  expect(readdirSync(join(directory, '.incoming'))).toEqual(['new'])
})

test('a reader goes on with a blob that is removed meanwhile', async () => {
  await store.put('a', text('x'.repeat(600), 'y'.repeat(300)), OPTIONS)
  const iterator = (await store.open('a'))?.body[Symbol.asyncIterator]()
  const first = await iterator?.next()
  await store.remove('a')
  expect(first?.value).toHaveLength(900)
  expect(await iterator?.next()).toMatchObject({ done: true })
})

test('a disk that fails is said to be unavailable, a source that fails is not', async () => {
  rmSync(join(directory, '.incoming'), { recursive: true, force: true })
  writeFileSync(join(directory, '.incoming'), 'no directory')
  await expect(store.put('a', text('x'), OPTIONS)).rejects.toThrow(StorageUnavailable)
  await expect(store.ping(new AbortController().signal)).rejects.toThrow(StorageUnavailable)
})
