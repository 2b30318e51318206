/** Files that are written as they are read. */
import { Readable } from 'node:stream'
import { z } from 'zod'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { EXPORT_FORMATS, EXPORT_TYPES, type ExportFormat } from '../../../management/logs/export-rows.ts'
import type { RawAnswer, RouteReply } from '../route-types.ts'

export interface ExportFile {
  readonly name: string
  readonly format: ExportFormat
  readonly method: string
  /** Whose it is. */
  readonly accountId: string
  readonly reply: RouteReply
}

/** `usual`: the format where none is asked for. */
export function exportAnswer(usual: ExportFormat): RawAnswer {
  return {
    contentType: EXPORT_TYPES[usual],
    otherTypes: EXPORT_FORMATS.filter((format) => format !== usual).map((format) => EXPORT_TYPES[format]),
    schema: z.string(),
  }
}

/** Exports of one account at once, in one process. */
const EXPORTS_MAX = 3
const RETRY_MS = 5_000

/** The exports that are running, so that nobody keeps every reader of the database busy. */
export class Exports {
  /** Accounts whose exports are running; each leaves with its last one. */
  readonly #running = new Map<string, number>()

  /** The next page is asked for when the client has taken the last; a client that goes away ends the reading. */
  send(lines: AsyncGenerator<string>, file: ExportFile): Readable | string {
    file.reply.type(EXPORT_TYPES[file.format])
    file.reply.header('content-disposition', `attachment; filename="${file.name}.${file.format}"`)
    file.reply.header('x-accel-buffering', 'no')
    // The head of a file says nothing of its rows, so none is read.
    if (file.method === 'HEAD') return ''
    this.#enter(file.accountId)
    const stream = Readable.from(lines, { objectMode: false })
    stream.once('close', () => this.#leave(file.accountId))
    return stream
  }

  #enter(accountId: string): void {
    const before = this.#running.get(accountId) ?? 0
    if (before >= EXPORTS_MAX) {
      const message = `${EXPORTS_MAX} exports of this account are running: wait for one to end`
      throw new GatewayError(42901, { message, retryAfterMs: RETRY_MS })
    }
    this.#running.set(accountId, before + 1)
  }

  #leave(accountId: string): void {
    const left = (this.#running.get(accountId) ?? 1) - 1
    if (left > 0) this.#running.set(accountId, left)
    else this.#running.delete(accountId)
  }
}
