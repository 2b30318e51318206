/** The last column of `sluice logs`: in one line why a call was free or refused, or why each vendor failed. */
import type { CallLogRow } from '../../../core/ledger/log-row.ts'
import type { Catalogue } from '../../../core/catalogue.ts'
import { ERRORS } from '../../../core/errors/catalogue.ts'
import { viewOperatorLogRow } from '../../../management/logs/log-view.ts'
import { meantInstead } from '../../../pipeline/stages/admit.ts'

/**
 * '' if there is nothing to report.
 * @param readCatalogue asked for calls of a model that was not found alone: the row does not say which name was meant
 */
export async function whyOfCall(row: CallLogRow, readCatalogue: () => Promise<Catalogue>): Promise<string> {
  const { free_reason: free } = viewOperatorLogRow(row)
  const failed = row.attempts
    .filter(({ outcome }) => outcome !== 'answered')
    .map(
      ({ vendorCode, status, outcome, said }) =>
        `${vendorCode}: ${[status, said === undefined || said === '' ? outcome : said].join(' ').trim()}`,
    )
  const refused = failed.length === 0 ? await refusal(row, readCatalogue) : undefined
  const why = [...(free === null ? [] : [FREE[free]]), ...failed, ...(refused === undefined ? [] : [refused])]
  return why.join('; ')
}

const FREE = { 'below-one-credit': 'free: below 1 Credit', 'own-credential': 'free: own credential' } as const

/** For a call without a vendor's failure: it never reached a vendor, or the gateway ended it. */
async function refusal(
  { code, message, model, modelRequested }: CallLogRow,
  readCatalogue: () => Promise<Catalogue>,
): Promise<string | undefined> {
  if (code === undefined) return undefined
  const mayBeUnknown = (code === 50201 || code === 40400) && model === undefined
  if (mayBeUnknown && modelRequested !== undefined) {
    const catalogue = await readCatalogue()
    const found = [...catalogue.models.values()].find(({ modelId }) => modelId === modelRequested)
    if (found === undefined) return `there is no such model${meantInstead(modelRequested, catalogue)}`
    if (found.status !== 'enabled') return `the model is ${found.status}`
  }
  if (message !== undefined) return message
  return Object.entries(ERRORS).find(([known]) => Number(known) === code)?.[1].message
}
