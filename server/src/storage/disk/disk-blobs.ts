/**
 * Blobs as files. A blob is written to a temporary file, flushed and renamed, so that it exists completely or not at all.
 * Its media type is in a separate file, which is written first.
 */
import { createHash, randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { BlobSource, blobUnavailable, segmentsOf } from '../blob-source.ts'
import type { BlobStore, OpenBlob, StoredBlob } from '../stores/blobs.ts'
import { codeOf, isMissing } from '../../core/errors/error-code.ts'

export interface DiskBlobOptions {
  readonly directory: string
  /** Epoch ms. */
  readonly now: () => number
}

/** No key begins with a dot. */
const INCOMING = '.incoming'
/** A temporary file that has not grown for this long was left by a process that ended. */
const ABANDONED_AFTER_MS = 60 * 60_000
const READ_CHUNK_BYTES = 256 * 1_024
/** Used if a blob's media type was lost. */
const UNTYPED = 'application/octet-stream'

export async function openDiskBlobs({ directory, now }: DiskBlobOptions): Promise<BlobStore> {
  const incoming = join(directory, INCOMING)
  await removeAbandoned(incoming, now())
  const placeOf = (key: string) => placeIn(directory, key)
  return {
    async put(key, source, options) {
      return putFile(placeOf(key), { source, options, incoming })
    },

    async open(key, range): Promise<OpenBlob | undefined> {
      const { file, type } = placeOf(key)
      const found = await describe(file, type)
      return found && { ...found, body: readRange(file, range) }
    },

    async find(key) {
      const { file, type } = placeOf(key)
      return describe(file, type)
    },

    async remove(key) {
      const { file, type } = placeOf(key)
      await removeFile(file)
      await removeFile(type)
    },

    async ping() {
      const path = join(incoming, randomUUID())
      await onDisk(async () => {
        await makeDirectory(incoming)
        await writeWhole(path, [Buffer.from('ping')])
        await readFile(path)
        await unlink(path)
      })
    },

    async close() {},
  }
}

interface Place {
  readonly file: string
  readonly type: string
}

/**
 * A directory for each segment of the key, and below the last of them one of 256 by hash, so that no directory grows
 * without bound. Its name begins with a character that no segment begins with.
 */
function placeIn(directory: string, key: string): Place {
  const segments = segmentsOf(key)
  const name = segments.at(-1) ?? ''
  const shard = `_${createHash('sha256').update(key).digest('hex').slice(0, 2)}`
  const folder = join(directory, ...segments.slice(0, -1), shard)
  return { file: join(folder, name), type: join(folder, `.${name}.type`) }
}

interface Put {
  readonly source: AsyncIterable<Uint8Array>
  readonly options: Parameters<BlobStore['put']>[2]
  readonly incoming: string
}

async function putFile(place: Place, { source, options, incoming }: Put): Promise<StoredBlob> {
  const measured = new BlobSource(source, options.maxBytes)
  const aside = join(incoming, randomUUID())
  const asideType = join(incoming, randomUUID())
  try {
    await makeDirectory(incoming)
    await writeWhole(aside, measured)
    await writeWhole(asideType, [Buffer.from(options.mediaType, 'utf8')])
    const folder = dirname(place.file)
    await makeDirectory(folder)
    await rename(asideType, place.type)
    await rename(aside, place.file)
    await flushDirectory(folder)
    return measured.stored()
  } catch (error) {
    await removeFile(aside)
    await removeFile(asideType)
    throw measured.errorOf(error)
  }
}

async function makeDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
}

/** When it returns, the data is on disk, not only in the system's memory. */
async function writeWhole(
  path: string,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  await withFile(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, async (file) => {
    for await (const chunk of chunks) await file.appendFile(chunk)
    await file.sync()
  })
}

async function flushDirectory(path: string): Promise<void> {
  await withFile(path, constants.O_RDONLY, (directory) => directory.sync())
}

async function withFile(
  path: string,
  flags: number,
  work: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const file = await open(path, flags, 0o600)
  try {
    await work(file)
  } finally {
    await file.close()
  }
}

/** undefined: there is no such blob. */
async function describe(
  file: string,
  type: string,
): Promise<{ readonly bytes: number; readonly mediaType: string } | undefined> {
  const found = await unlessMissing(() => stat(file))
  if (found === undefined) return undefined
  const mediaType = await unlessMissing(() => readFile(type, 'utf8'))
  return { bytes: found.size, mediaType: mediaType ?? UNTYPED }
}

/** Opened when the first byte is read: an unread body keeps no file open. */
async function* readRange(
  path: string,
  range: { readonly start: number; readonly end: number } | undefined,
): AsyncGenerator<Uint8Array> {
  const file = await onDisk(() => open(path, constants.O_RDONLY))
  try {
    let position = range?.start ?? 0
    const end = range === undefined ? Number.POSITIVE_INFINITY : range.end + 1
    while (position < end) {
      // A new buffer for each, which the receiver may keep.
      const buffer = Buffer.allocUnsafe(Math.min(READ_CHUNK_BYTES, end - position))
      const { bytesRead } = await onDisk(() => file.read(buffer, 0, buffer.length, position))
      if (bytesRead === 0) return
      position += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

async function removeAbandoned(incoming: string, at: number): Promise<void> {
  // Created with the first blob: a process that stores none needs no writable directory.
  for (const name of (await unlessMissing(() => readdir(incoming))) ?? []) {
    const path = join(incoming, name)
    const found = await unlessMissing(() => stat(path))
    if (found !== undefined && found.mtimeMs < at - ABANDONED_AFTER_MS) await removeFile(path)
  }
}

async function removeFile(path: string): Promise<void> {
  await unlessMissing(() => unlink(path))
}

async function unlessMissing<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  return onDisk(async () => {
    try {
      return await work()
    } catch (error) {
      if (isAbsent(error)) return undefined
      throw error
    }
  })
}

/** Also if a part of the path is a file. */
function isAbsent(error: unknown): boolean {
  return isMissing(error) || codeOf(error) === 'ENOTDIR'
}

async function onDisk<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    throw blobUnavailable(error)
  }
}
