/**
 * Where a server keeps its data: in memory where that is offered. A disk's file system may pass over everything deleted in
 * the last minutes, one by one, before it makes a file (ext4 does), and each database is some 300 files.
 */
import {
  accessSync,
  chownSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statfsSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import type { ServerUser } from './server-user.ts'

/** A file system in memory; only Linux has it. */
const MEMORY = '/dev/shm'
/** Ten times what a whole run takes. Containers often offer less than one server needs. */
const ROOM_BYTES = 1_000_000_000

/** @param durable on the disk, which is then to be part of what is measured */
export function makeDataFolder(path: string, { spawn: { uid, gid } }: ServerUser, durable: boolean): void {
  if (!durable && hasMemory()) symlinkSync(mkdtempSync(join(MEMORY, 'sluice-test-postgres-')), path)
  else mkdirSync(path, { mode: 0o700 })
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
}

export function removeDataFolder(path: string): void {
  if (!existsSync(path)) return
  // Processes of a server that was just ended may still be writing.
  rmSync(realpathSync(path), { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
}

function hasMemory(): boolean {
  try {
    accessSync(MEMORY, constants.W_OK)
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= ROOM_BYTES
  } catch {
    return false
  }
}
