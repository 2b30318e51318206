/** Files that are written while their rows are read. */
import { say } from '../../../core/sentences/say.ts'
import { Readable } from 'node:stream'
import * as z from 'zod'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { EXPORT_FORMATS, EXPORT_TYPES, type ExportFormat } from '../../../management/logs/export-rows.ts'
import type { RawAnswer, RouteReply } from '../route-types.ts'

export interface ExportFile {
  readonly name: string
  readonly format: ExportFormat
  readonly method: string
  /** The account it belongs to. */
  readonly accountId: string
  readonly reply: RouteReply
}

/** `usual`: the format if none is requested. */
export function exportAnswer(usual: ExportFormat): RawAnswer {
  return {
    contentType: EXPORT_TYPES[usual],
    otherTypes: EXPORT_FORMATS.filter((format) => format !== usual).map((format) => EXPORT_TYPES[format]),
    schema: z.string(),
  }
}

/** Concurrent exports per account in one process. */
const EXPORTS_MAX = 3
const RETRY_MS = 5_000

/** The running exports, limited so that one account cannot occupy every database reader. */
export class Exports {
  /** Accounts with running exports, and how many each has. */
  readonly #running = new Map<string, number>()

  /** The next page is read when the client has received the last; a client that disconnects ends the reading. */
  send(lines: AsyncGenerator<string>, file: ExportFile): Readable | string {
    file.reply.type(EXPORT_TYPES[file.format])
    file.reply.header('content-disposition', `attachment; filename="${file.name}.${file.format}"`)
    file.reply.header('x-accel-buffering', 'no')
    // HEAD needs no rows, so none is read.
    if (file.method === 'HEAD') return ''
    this.#enter(file.accountId)
    const stream = Readable.from(lines, { objectMode: false })
    stream.once('close', () => this.#leave(file.accountId))
    return stream
  }

  #enter(accountId: string): void {
    const before = this.#running.get(accountId) ?? 0
    if (before >= EXPORTS_MAX) {
      const message = say('exports-running', { most: EXPORTS_MAX })
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
