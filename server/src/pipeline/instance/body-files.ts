/**
 * Bodies that are too large for memory, each in an unlinked file: when its process ends, in whatever way, the file is
 * gone.
 */
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { StoredBytes } from '../../core/passthrough/splice.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import { isDiskFull } from './pending/durable-file.ts'

export interface BodyFiles {
  /** Rejects with 50301 if the disk is full. */
  open(): Promise<BodyFile>
}

export interface BodyFile {
  /** Resolves when the bytes are in the file; append one piece at a time. Rejects with 50301 if the disk is full. */
  append(chunk: Uint8Array): Promise<void>
  /** The bytes in it. */
  readonly stored: StoredBytes
  /** Usable by a thread of this process, until `close`. */
  readonly descriptor: number
  /** Waits for reads in progress; may be called again. */
  close(): void
}

const FOLDER = 'bodies'
const OWN = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/** Uploads in progress end within seconds; anything else that fills the disk needs an operator. */
const RETRY_AFTER_MS = 10_000

interface BodyFilesTelemetry extends Pick<Telemetry, 'background'> {
  readonly log: Pick<Telemetry['log'], 'error'>
}

/** `openFile` is the system's; a test may simulate a full disk. */
export function createBodyFiles(
  dataDirectory: string,
  { background, log }: BodyFilesTelemetry,
  openFile: typeof open = open,
): BodyFiles {
  const folder = join(dataDirectory, FOLDER)
  const refusalOf = (error: unknown): unknown => {
    if (!isDiskFull(error)) return error
    log.error({ error, folder }, 'the disk is full: a large upload is refused')
    return new GatewayError(50301, {
      message: 'there is no room for a large upload right now, try again later',
      retryAfterMs: RETRY_AFTER_MS,
      cause: error,
    })
  }
  return {
    async open() {
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        const path = join(folder, randomUUID())
        const handle = await openFile(path, OWN, 0o600)
        try {
          await rm(path)
        } catch (error) {
          await handle.close()
          throw error
        }
        const onClosing = (closing: Promise<void>): void =>
          background.track(closing, 'close the file of a body')
        return new OpenBodyFile(handle, onClosing, refusalOf)
      } catch (error) {
        throw refusalOf(error)
      }
    },
  }
}

class OpenBodyFile implements BodyFile {
  readonly #handle: FileHandle
  readonly #onClosing: (closing: Promise<void>) => void
  readonly #refusalOf: (error: unknown) => unknown
  #length = 0
  #closed = false

  constructor(
    handle: FileHandle,
    onClosing: (closing: Promise<void>) => void,
    refusalOf: (error: unknown) => unknown,
  ) {
    this.#handle = handle
    this.#onClosing = onClosing
    this.#refusalOf = refusalOf
  }

  get descriptor(): number {
    return this.#handle.fd
  }

  get stored(): StoredBytes {
    return storedIn(this.#handle, 0, this.#length)
  }

  async append(chunk: Uint8Array): Promise<void> {
    try {
      let written = 0
      while (written < chunk.byteLength) {
        const left = chunk.byteLength - written
        const { bytesWritten } = await this.#handle.write(chunk, written, left, this.#length)
        written += bytesWritten
        this.#length += bytesWritten
      }
    } catch (error) {
      throw this.#refusalOf(error)
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
