import { createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { readConfig } from '../../../config/environment.ts'
import type { JsonObject } from '../../../core/json.ts'
import { openBlobs } from '../../../storage/open-blobs.ts'
import { type ArchiveSummary, backUp } from '../../../storage/transfer.ts'
import { VERSION } from '../../../version.ts'
import { type Console, jsonText, plural, tableText } from '../../console.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { transferFailure } from './transfer-failure.ts'
import { refuseMissing, storageOptions } from '../../with-storage.ts'

export interface BackupFlags {
  readonly output: string
  readonly files?: boolean
  readonly json?: boolean
}

/** Writes a snapshot of the database to one file, while gateways serve. The file exists completely or not at all. */
export async function backup(io: Console, flags: BackupFlags): Promise<void> {
  if (flags.output === '-') {
    if (io.output === undefined) throw new CommandFailure('failed', 'there is no standard output')
    // Standard output is left open, because it is shared.
    const summary = await write(io, flags, leftOpen(io.output))
    io.err(summaryText(summary))
    return
  }
  const file = resolve(io.workingDirectory, flags.output)
  const summary = await writeWhole(file, (output) => write(io, flags, output))
  if (flags.json === true) io.out(jsonText({ file, ...summaryJson(summary) }))
  else {
    io.out(
      tableText(
        ['TABLE', 'ROWS'],
        summary.tables.map(({ name, rows }) => [name, rows]),
      ),
    )
    io.err(`${summaryText(summary)}wrote ${file}; the secret key is not in it: keep it apart\n`)
  }
}

async function write(io: Console, { files }: BackupFlags, output: Writable): Promise<ArchiveSummary> {
  const config = readConfig(io.environment, io.workingDirectory)
  refuseMissing(config)
  const options = await storageOptions(io, config)
  const blobs = files === true ? await openBlobs(config.blob, io.now) : undefined
  const lines = new PassThrough()
  const written = pipeline(lines, createGzip(), output)
  // A failure of the output also rejects the writes; this promise is awaited at the end.
  written.catch(() => undefined)
  try {
    const summary = await backUp(options, lines, { madeBy: VERSION, blobs })
    lines.end()
    await written
    return summary
  } catch (error) {
    lines.destroy(error instanceof Error ? error : undefined)
    throw transferFailure(error)
  } finally {
    await blobs?.close()
  }
}

/** Written under another name until it is complete and on disk; an existing file is not overwritten. */
async function writeWhole<Value>(file: string, work: (output: Writable) => Promise<Value>): Promise<Value> {
  const part = `${file}.part`
  try {
    await (await open(file, 'wx', 0o600)).close()
  } catch (error) {
    throw new CommandFailure('failed', `${file} cannot be made: ${String(error)}`, { cause: error })
  }
  try {
    // It contains customers and hashes of their passwords: readable by its owner only.
    const value = await work(createWriteStream(part, { mode: 0o600, flush: true }))
    await rename(part, file)
    return value
  } catch (error) {
    await rm(part, { force: true })
    await rm(file, { force: true })
    throw error
  }
}

function leftOpen(output: Writable): Writable {
  return new Writable({
    write: (chunk: Uint8Array, _encoding, done) => {
      output.write(chunk, done)
    },
  })
}

export function summaryText({ begin, rows, tables, blobs, sha256 }: ArchiveSummary): string {
  const files = blobs === 0 ? '' : `, ${plural(blobs, 'file')}`
  return `${plural(rows, 'row')} in ${plural(tables.length, 'table')}${files}, schema ${begin.schema}, of ${begin.made_at}\nsha256 of the contents: ${sha256}\n`
}

export function summaryJson({ begin, rows, tables, blobs, sha256 }: ArchiveSummary): JsonObject {
  return {
    made_at: begin.made_at,
    made_by: begin.made_by,
    schema: begin.schema,
    engine: begin.engine,
    rows,
    tables: Object.fromEntries(tables.map(({ name, rows: count }) => [name, count])),
    files: blobs,
    sha256,
  }
}
