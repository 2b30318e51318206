import { type Console, jsonText, plural, tableText } from '../console.ts'
import { CommandFailure } from '../exit-codes.ts'
import { withStorage } from '../with-storage.ts'
import type { OutputFlags } from './accounts.ts'

/** Recomputes every balance, hold, slot and charge from the ledger's entries. */
export async function verify(io: Console, flags: OutputFlags): Promise<void> {
  const differences = await withStorage(io, 'refuse', (storage) => storage.ledger.verify())
  if (flags.json === true) io.out(jsonText({ differences: differences.map((one) => ({ ...one })) }))
  else if (differences.length === 0) io.out('every balance, hold and charge is what the ledger says\n')
  else {
    const rows = differences.map(({ subject, what, expected, found }) => [subject, what, expected, found])
    io.out(tableText(['SUBJECT', 'WHAT', 'EXPECTED', 'FOUND'], rows))
  }
  if (differences.length > 0) {
    throw new CommandFailure('differences', `the ledger disagrees in ${plural(differences.length, 'place')}`)
  }
}
