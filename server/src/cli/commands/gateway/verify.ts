import { type Console, jsonText, plural, tableText } from '../../console.ts'
import { CommandFailure } from '../../exit-codes.ts'
import { type Verdict, verifyStorage } from './verify-storage.ts'
import { withStorage } from '../../with-storage.ts'
import type { OutputFlags } from '../accounts/accounts.ts'

/** Recomputes every balance, hold, slot and charge from the ledger's entries, and the chain of the audit log. */
export async function verify(io: Console, flags: OutputFlags): Promise<void> {
  const verdict = await withStorage(io, 'refuse', verifyStorage)
  if (flags.json === true) {
    const differences = verdict.differences.map((one) => ({ ...one }))
    io.out(jsonText({ differences, audit: verdict.audit ?? 'whole' }))
  } else if (verdict.differences.length === 0)
    io.out('every balance, hold and charge is what the ledger says\n')
  else io.out(differencesText(verdict))
  endWith(verdict)
}

/** For commands that have already reported their work. */
export function refuseDifferences(io: Console, verdict: Verdict): void {
  if (verdict.differences.length === 0)
    io.err('verified: every balance, hold and charge is what the ledger says\n')
  else io.err(differencesText(verdict))
  endWith(verdict)
}

function differencesText({ differences }: Verdict): string {
  const rows = differences.map(({ subject, what, expected, found }) => [subject, what, expected, found])
  return tableText(['SUBJECT', 'WHAT', 'EXPECTED', 'FOUND'], rows)
}

function endWith({ differences, audit }: Verdict): void {
  const broken = audit === undefined ? [] : [`the audit log was tampered with, from ${audit}`]
  const disagrees =
    differences.length === 0 ? [] : [`the ledger disagrees in ${plural(differences.length, 'place')}`]
  const all = [...disagrees, ...broken]
  if (all.length > 0) throw new CommandFailure('differences', all.join('; '))
}
