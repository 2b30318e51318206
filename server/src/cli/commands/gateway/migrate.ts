import { readConfig } from '../../../config/environment.ts'
import { openStorage, type OpenStorageOptions } from '../../../storage/open.ts'
import { type ArchiveSummary, move } from '../../../storage/transfer.ts'
import { VERSION } from '../../../version.ts'
import { type Console, jsonText, plural, tableText } from '../../console.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { transferFailure } from '../data/transfer-failure.ts'
import { type Verdict, verifyStorage } from './verify-storage.ts'
import { refuseMissing, storageOptions, withStorage } from '../../with-storage.ts'
import { summaryJson, summaryText } from '../data/backup.ts'
import { verdictJson } from '../data/restore.ts'
import { refuseDifferences } from './verify.ts'

export interface MigrateFlags {
  readonly to?: string
  readonly replace?: boolean
  readonly json?: boolean
}

/** Opening a store migrates it; this reports the result. With `--to` the database is moved. */
export async function migrate(io: Console, flags: MigrateFlags): Promise<void> {
  if (flags.to !== undefined) {
    await moveTo(io, flags.to, flags)
    return
  }
  if (flags.replace === true) throw new CommandFailure('mistakes', '--replace goes with --to')
  const applied = await withStorage(io, 'create', async (storage, migrations) => {
    await storage.ping()
    return migrations
  })
  if (flags.json === true) {
    io.out(jsonText({ applied: applied.map(({ version, name }) => ({ version, name })) }))
    return
  }
  if (applied.length === 0) {
    io.out('the database is current: nothing to do\n')
    return
  }
  io.out(
    tableText(
      ['VERSION', 'MIGRATION'],
      applied.map(({ version, name }) => [version, name]),
    ),
  )
  io.out(`${plural(applied.length, 'migration')} applied\n`)
}

/** Moves the configured SQLite database to PostgreSQL, while no gateway serves from it; verified on both sides. */
async function moveTo(io: Console, address: string, flags: MigrateFlags): Promise<void> {
  const config = readConfig(io.environment, io.workingDirectory)
  const target = databaseAt(address)
  if (config.database.kind === 'postgres') {
    throw new CommandFailure(
      'mistakes',
      'only a SQLite database is moved with --to: use sluice backup and sluice restore between two PostgreSQL databases, and unset SLUICE_DATABASE_URL to move a SQLite one',
    )
  }
  refuseMissing(config)
  const from = await storageOptions(io, config)
  const to = { ...from, databaseUrl: target }
  let summary: ArchiveSummary
  try {
    summary = await move(from, to, {
      present: flags.replace === true ? 'replace' : 'refuse',
      madeBy: VERSION,
    })
  } catch (error) {
    throw transferFailure(error)
  }
  const verdicts = { before: await withStorage(io, 'refuse', verifyStorage), after: await verifyAt(to) }
  printMoved(io, flags, { summary, ...verdicts })
  refuseDifferences(io, verdicts.after)
}

async function verifyAt(options: OpenStorageOptions): Promise<Verdict> {
  const storage = await openStorage(options)
  try {
    return await verifyStorage(storage)
  } finally {
    await storage.close()
  }
}

interface Moved {
  readonly summary: ArchiveSummary
  readonly before: Verdict
  readonly after: Verdict
}

function printMoved(io: Console, { json }: MigrateFlags, { summary, ...verdicts }: Moved): void {
  const before = verdictJson(verdicts.before)
  const after = verdictJson(verdicts.after)
  if (json === true) io.out(jsonText({ result: 'moved', ...summaryJson(summary), before, after }))
  else {
    io.out(
      tableText(
        ['TABLE', 'ROWS'],
        summary.tables.map(({ name, rows }) => [name, rows]),
      ),
    )
    io.err(`moved and read back: ${summaryText(summary)}`)
  }
  if (JSON.stringify(before) !== JSON.stringify(after))
    throw new CommandFailure(
      'differences',
      'the two databases give different verification results: keep using the old one',
    )
  io.err(
    'from now on start with SLUICE_DATABASE_URL set to the new database and the same secret key; the old file stays as it is\n',
  )
}

function databaseAt(address: string): string {
  if (/^postgres(ql)?:\/\/./.test(address) && URL.canParse(address)) return address
  throw new CommandFailure('mistakes', '--to must be an address that begins with postgres://')
}
