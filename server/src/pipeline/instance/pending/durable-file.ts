/** Files that are on disk when a write has ended, and space reserved for one of them in case the disk is full. */
import { constants } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from '../../../core/errors/error-code.ts'

/** Without following links, which may lead to other files. */
const WRITE_OWN = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW

export async function writeDurably(file: string, text: string | Uint8Array): Promise<void> {
  await closing(await open(file, WRITE_OWN | constants.O_TRUNC, 0o600), async (handle) => {
    await handle.writeFile(text)
    await handle.sync()
  })
}

/** Makes the new name survive a crash of the machine too. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to)
  await closing(await open(dirname(to), 'r'), (handle) => handle.sync())
}

/** True for an error caused by a full disk or an exceeded disk quota. */
export function isDiskFull(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'ENOSPC' || code === 'EDQUOT'
}

/**
 * Reserves `bytes` of disk space under the name `reserve`, unless that file exists. A disk that is too full is left
 * unchanged.
 */
export async function keepReserve(reserve: string, bytes: number): Promise<void> {
  try {
    await closing(await open(reserve, WRITE_OWN | constants.O_EXCL, 0o600), (handle) =>
      handle.writeFile(Buffer.alloc(bytes)),
    )
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return
    if (!isDiskFull(error)) throw error
    await rm(reserve, { force: true })
  }
}

/**
 * Writes into the reserved space, which needs no more disk space if `text` is shorter. Rejects if there is no reserve,
 * for example because another process took it.
 */
export async function writeInReserve(reserve: string, file: string, text: string): Promise<void> {
  await rename(reserve, file)
  await closing(await open(file, constants.O_WRONLY | constants.O_NOFOLLOW), async (handle) => {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.byteLength; ) {
      const { bytesWritten } = await handle.write(bytes, at, bytes.byteLength - at, at)
      at += bytesWritten
    }
    await handle.truncate(bytes.byteLength)
    await handle.sync()
  })
}

async function closing(handle: FileHandle, work: (handle: FileHandle) => Promise<void>): Promise<void> {
  try {
    await work(handle)
  } finally {
    await handle.close()
  }
}
