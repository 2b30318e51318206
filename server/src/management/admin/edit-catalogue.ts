/**
 * The catalogue changed row by row. A request's body is put where the gateway file would have it and goes through the
 * file's own checks and plan, so that file, command line and API refuse alike and with the same paths.
 */
import { namesAfter } from '../../config/gateway-file/check-rows.ts'
import { loadGatewayFile } from '../../config/gateway-file/load.ts'
import type { Catalogue } from '../../core/catalogue.ts'
import type { JsonObject } from '../../core/json.ts'
import { isSameRate } from '../../core/pricing/yuan-rate.ts'
import { rateHoldText } from '../../storage/amount-refused.ts'
import type { AuditedStores } from '../../storage/audit.ts'
import type { CatalogueChange } from '../../storage/records.ts'
import type { Difference } from '../gateway-file/difference.ts'
import { planCatalogue } from '../gateway-file/plan-catalogue.ts'
import { type Actor, auditedChanges, bodyMistake, done, type Done, type Office } from './acts.ts'

export interface CatalogueEdit {
  /** A gateway file that holds nothing but the row. */
  readonly fragment: JsonObject
  /** Where in it the body stands: `vendors[0]`. */
  readonly prefix: string
  readonly action: string
  readonly subject: string
  /** Written in the same transaction. */
  readonly more?: (stores: AuditedStores) => Promise<void>
  readonly moreDifferences?: readonly Difference[]
}

export interface Edited {
  /** Empty: it was so already. */
  readonly differences: readonly Difference[]
  readonly warnings: readonly string[]
}

export async function editCatalogue(
  office: Office,
  edit: CatalogueEdit,
  actor: Actor,
): Promise<Done<Edited>> {
  const { storage } = office
  const known = await storage.catalogue.read()
  const planned = planFragment(office, edit, known)
  if (planned.kind !== 'done') return planned
  const message = await whyRateStays(storage, known, planned.value.changes)
  if (message !== undefined) return { kind: 'conflict', message }
  const { changes, differences, warnings } = planned.value
  const all = [...differences, ...(edit.moreDifferences ?? [])]
  if (all.length > 0) {
    await storage.audit.act(async (stores) => {
      if (changes.length > 0) await stores.catalogue.apply(changes)
      await edit.more?.(stores)
      const { action, subject } = edit
      return { value: undefined, act: { at: actor.at, actor, action, subject, changes: auditedChanges(all) } }
    })
  }
  return done({ differences: all, warnings })
}

/** Asked before, so that the answer is a plain one; the store asks again under its lock. */
async function whyRateStays(
  storage: Pick<Office['storage'], 'catalogue'>,
  { settings }: Pick<Catalogue, 'settings'>,
  changes: readonly CatalogueChange[],
): Promise<string | undefined> {
  const changed = changes.some(
    (change) =>
      change.kind === 'put-settings' && !isSameRate(change.settings.creditsPerYuan, settings.creditsPerYuan),
  )
  const hold = changed ? await storage.catalogue.findRateHold() : undefined
  return hold === undefined ? undefined : `credits_per_yuan ${rateHoldText(hold)}`
}

export interface PlannedFragment {
  readonly changes: readonly CatalogueChange[]
  readonly differences: readonly Difference[]
  readonly warnings: readonly string[]
}

/** What writing the fragment would change, or what is wrong with it. */
export function planFragment(
  office: Pick<Office, 'kinds' | 'kindsWithoutAddress'>,
  { fragment, prefix }: Pick<CatalogueEdit, 'fragment' | 'prefix'>,
  known: Catalogue,
): Done<PlannedFragment> {
  const loaded = loadGatewayFile({ ...fileText(fragment), ...kindsOf(office), known, missing: 'stays' })
  if (loaded.kind === 'mistakes')
    return { kind: 'mistakes', mistakes: loaded.mistakes.map((mistake) => bodyMistake(mistake, prefix)) }
  const { file, warnings } = loaded
  const names = namesAfter(file, { known, missing: 'stays' })
  const { changes, differences } = planCatalogue({ file, stored: known, names, missing: 'stays' })
  return done({
    changes,
    differences,
    warnings: warnings.map((warning) => {
      const { path, message } = bodyMistake(warning, prefix)
      return `${path} ${message}`
    }),
  })
}

/** Nothing in a request is a reference to the environment: what looks like one is meant as it is written. */
export function fileText(fragment: JsonObject) {
  return { text: JSON.stringify(fragment).replaceAll('${', () => '$${'), environment: {} } as const
}

export function kindsOf({ kinds, kindsWithoutAddress }: Pick<Office, 'kinds' | 'kindsWithoutAddress'>) {
  return { kinds, kindsWithoutAddress } as const
}

/** A row the gateway file has no word for removing. */
export async function removeRow(
  office: Office,
  row: { readonly change: CatalogueChange; readonly action: string; readonly subject: string },
  actor: Actor,
): Promise<void> {
  await office.storage.audit.act(async (stores) => {
    await stores.catalogue.apply([row.change])
    const changes = [{ field: row.subject, from: 'there', to: null }]
    return {
      value: undefined,
      act: { at: actor.at, actor, action: row.action, subject: row.subject, changes },
    }
  })
}
