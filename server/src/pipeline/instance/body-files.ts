/**
 * Bodies that are too large for memory, each in a file without a name: when its process ends, however it ends, nothing is
 * left of it.
 */
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { StoredBytes } from '../../core/passthrough/splice.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'

export interface BodyFiles {
  open(): Promise<BodyFile>
}

export interface BodyFile {
  /** Resolves when they are in the file; pieces come one after the other. */
  append(chunk: Uint8Array): Promise<void>
  /** What is in it. */
  readonly stored: StoredBytes
  /** For a thread of this process, until `close`. */
  readonly descriptor: number
  /** What still reads comes to its end first; may be called again. */
  close(): void
}

const FOLDER = 'bodies'
const OWN = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

export function createBodyFiles(dataDirectory: string, telemetry: Pick<Telemetry, 'background'>): BodyFiles {
  const folder = join(dataDirectory, FOLDER)
  return {
    async open() {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const path = join(folder, randomUUID())
      const handle = await open(path, OWN, 0o600)
      try {
        await rm(path)
      } catch (error) {
        await handle.close()
        throw error
      }
      return new OpenBodyFile(handle, (closing) =>
        telemetry.background.track(closing, 'close the file of a body'),
      )
    },
  }
}

class OpenBodyFile implements BodyFile {
  readonly #handle: FileHandle
  readonly #onClosing: (closing: Promise<void>) => void
  #length = 0
  #closed = false

  constructor(handle: FileHandle, onClosing: (closing: Promise<void>) => void) {
    this.#handle = handle
    this.#onClosing = onClosing
  }

  get descriptor(): number {
    return this.#handle.fd
  }

  get stored(): StoredBytes {
    return storedIn(this.#handle, 0, this.#length)
  }

  async append(chunk: Uint8Array): Promise<void> {
    let written = 0
    while (written < chunk.byteLength) {
      const { bytesWritten } = await this.#handle.write(
        chunk,
        written,
        chunk.byteLength - written,
        this.#length,
      )
      written += bytesWritten
      this.#length += bytesWritten
    }
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#onClosing(this.#handle.close())
  }
}

function storedIn(handle: FileHandle, from: number, length: number): StoredBytes {
  return {
    length,
    subarray: (start, end = length) =>
      storedIn(handle, from + start, Math.max(0, Math.min(end, length) - start)),
    async read(start, most) {
      const wanted = Math.min(most, length - start)
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(wanted), 0, wanted, from + start)
      if (bytesRead === 0) throw new Error('the file of a body is shorter than it was')
      return buffer.subarray(0, bytesRead)
    },
  }
}
