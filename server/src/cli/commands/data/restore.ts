import { createReadStream, existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { SECRET_KEY_FILE } from '../../../config/data-directory.ts'
import { type Config, readConfig } from '../../../config/environment.ts'
import type { BlobStore } from '../../../storage/stores/blobs.ts'
import { openBlobs } from '../../../storage/open-blobs.ts'
import { type ArchiveSummary, checkArchive, restore } from '../../../storage/transfer.ts'
import { type Console, jsonText, tableText } from '../../console.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { transferFailure } from './transfer-failure.ts'
import { type Verdict, verifyStorage } from '../gateway/verify-storage.ts'
import { storageOptions, withStorage } from '../../with-storage.ts'
import { summaryJson, summaryText } from './backup.ts'
import { refuseDifferences } from '../gateway/verify.ts'

export interface RestoreFlags {
  readonly check?: boolean
  readonly replace?: boolean
  readonly json?: boolean
}

/** Loads a backup into the configured database, all of it or nothing. */
export async function restoreBackup(io: Console, file: string, flags: RestoreFlags): Promise<void> {
  if (flags.check === true) {
    const summary = await reading(io, file, checkArchive)
    if (flags.json === true) io.out(jsonText({ result: 'whole', ...summaryJson(summary) }))
    else io.out(`the backup is whole: ${summaryText(summary)}`)
    return
  }
  const config = readConfig(io.environment, io.workingDirectory)
  refuseNewKey(config)
  const options = await storageOptions(io, config)
  const files = lazyBlobs(config, io)
  let summary: ArchiveSummary
  try {
    const present = flags.replace === true ? 'replace' : 'refuse'
    summary = await reading(io, file, (bytes) => restore(bytes, options, { present, blobs: files }))
  } finally {
    await files.close()
  }
  const verdict = await withStorage(io, 'refuse', verifyStorage)
  if (flags.json === true)
    io.out(jsonText({ result: 'restored', ...summaryJson(summary), ...verdictJson(verdict) }))
  else {
    io.out(
      tableText(
        ['TABLE', 'ROWS'],
        summary.tables.map(({ name, rows }) => [name, rows]),
      ),
    )
    io.err(`restored and read back: ${summaryText(summary)}`)
  }
  refuseDifferences(io, verdict)
}

async function reading<Value>(
  io: Console,
  file: string,
  work: (bytes: AsyncIterable<Uint8Array>) => Promise<Value>,
): Promise<Value> {
  const gunzip = createGunzip()
  const read = pipeline(sourceOf(io, file), gunzip)
  // A failure of the source also reaches the reader below.
  read.catch(() => undefined)
  try {
    return await work(gunzip)
  } catch (error) {
    if (error instanceof Error && 'code' in error && 'syscall' in error && 'path' in error)
      throw new CommandFailure('failed', `${file} cannot be read (${String(error.code)})`, { cause: error })
    throw transferFailure(error)
  } finally {
    gunzip.destroy()
  }
}

function sourceOf(io: Console, file: string): Readable {
  if (file !== '-') return createReadStream(resolve(io.workingDirectory, file))
  if (io.input === undefined) throw new CommandFailure('failed', 'there is no standard input')
  return Readable.from(io.input)
}

/** A new key cannot decrypt what was sealed with the former one. */
function refuseNewKey({ dataDirectory, secretKey }: Config): void {
  const file = join(dataDirectory, SECRET_KEY_FILE)
  if (secretKey !== undefined || existsSync(file)) return
  throw new CommandFailure(
    'missing',
    `there is no secret key: put the one of the backup's database at ${file}, or set SLUICE_SECRET_KEY; what is sealed in the backup can be opened with no other`,
  )
}

/** Opened with the first file, because most backups have none. */
function lazyBlobs(config: Config, io: Console): Pick<BlobStore, 'put' | 'close'> {
  let store: BlobStore | undefined
  return {
    async put(...file) {
      store ??= await openBlobs(config.blob, io.now)
      return store.put(...file)
    },
    close: async () => store?.close(),
  }
}

export function verdictJson({ differences, audit }: Verdict) {
  return { differences: differences.map((one) => ({ ...one })), audit: audit ?? 'whole' }
}
