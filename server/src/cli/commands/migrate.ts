import { type Console, jsonText, plural, tableText } from '../console.ts'
import { withStorage } from '../with-storage.ts'
import type { OutputFlags } from './accounts.ts'

/** Opening a store migrates it; this says what that did. */
export async function migrate(io: Console, flags: OutputFlags): Promise<void> {
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
