/**
 * The catalogue changed row by row. A request's body is put where the gateway file would have it and goes through the
 * file's own checks and plan, so that file, command line and API refuse alike and with the same paths.
 */
import { namesAfter } from '../../config/gateway-file/check-rows.ts'
import { jsonNode } from '../../config/gateway-file/json-node.ts'
import { loadGatewayNode } from '../../config/gateway-file/load.ts'
import type { Catalogue } from '../../core/catalogue.ts'
import type { JsonObject } from '../../core/json.ts'
import { ownChange } from '../../core/pricing/currency.ts'
import { rateHoldText } from '../../storage/failures/amount-refused.ts'
import type { AuditedStores } from '../../storage/stores/audit.ts'
import { StorageConflict } from '../../storage/failures/conflict.ts'
import type { CatalogueChange } from '../../storage/stores/records.ts'
import type { Difference } from '../gateway-file/difference.ts'
import { planCatalogue } from '../gateway-file/plan-catalogue.ts'
import { type Actor, auditedChanges, bodyMistake, done, type Done, type AdminParts } from './acts.ts'
import { type ChainMove, planMove } from './move-chain.ts'

export interface CatalogueEdit {
  /** A gateway file that holds nothing but the row. */
  readonly fragment: JsonObject
  /** Where in it the body stands: `vendors[0]`. */
  readonly prefix: string
  readonly action: string
  readonly subject: string
  /** The chain of the fragment, as it is found by its id: what the fragment writes is where it is moved to. */
  readonly move?: ChainMove
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
  parts: AdminParts,
  edit: CatalogueEdit,
  actor: Actor,
): Promise<Done<Edited>> {
  const { storage } = parts
  const stored = await storage.catalogue.read()
  const move = edit.move === undefined ? undefined : planMove(stored, edit.move)
  if (move !== undefined && move.kind !== 'done') return move
  const known = move?.value.known ?? stored
  const planned = planFragment(parts, edit, known)
  if (planned.kind !== 'done') return planned
  const message = await whyRateStays(storage, known, planned.value.changes)
  if (message !== undefined) return { kind: 'conflict', message }
  const { changes, differences, warnings } = planned.value
  const moved = move?.value.difference
  const all = [...(moved === undefined ? [] : [moved]), ...differences, ...(edit.moreDifferences ?? [])]
  if (all.length === 0) return done({ differences: all, warnings })
  const first = move === undefined ? [] : [move.value.change]
  const conflict = await write(parts, { edit, changes: [...first, ...changes], differences: all }, actor)
  return conflict ?? done({ differences: all, warnings })
}

interface Writing {
  readonly edit: CatalogueEdit
  readonly changes: readonly CatalogueChange[]
  readonly differences: readonly Difference[]
}

/** undefined: it is written. */
async function write(
  { storage }: AdminParts,
  { edit, changes, differences }: Writing,
  actor: Actor,
): Promise<Extract<Done<never>, { readonly kind: 'conflict' }> | undefined> {
  try {
    await storage.audit.act(async (stores) => {
      if (changes.length > 0) await stores.catalogue.apply(changes)
      await edit.more?.(stores)
      const { action, subject } = edit
      const act = { at: actor.at, actor, action, subject, changes: auditedChanges(differences) }
      return { value: undefined, act }
    })
    return undefined
  } catch (error) {
    // Somebody else was quicker: everything that is known beforehand was looked at.
    if (edit.move !== undefined && error instanceof StorageConflict)
      return { kind: 'conflict', message: 'the chain was changed by somebody else just now: read it again' }
    throw error
  }
}

/** Asked before, so that the answer is a plain one; the store asks again under its lock. */
async function whyRateStays(
  storage: Pick<AdminParts['storage'], 'catalogue'>,
  { settings }: Pick<Catalogue, 'settings'>,
  changes: readonly CatalogueChange[],
): Promise<string | undefined> {
  const put = changes.find((change) => change.kind === 'put-settings')
  const change = put === undefined ? undefined : ownChange(settings, put.settings)
  const hold = change === undefined ? undefined : await storage.catalogue.findRateHold(change)
  if (hold === undefined) return undefined
  const setting = change === 'rate' ? `currencies.${settings.currency}` : 'currency'
  return `${setting} ${rateHoldText(hold)}`
}

export interface PlannedFragment {
  readonly changes: readonly CatalogueChange[]
  readonly differences: readonly Difference[]
  readonly warnings: readonly string[]
}

/** What writing the fragment would change, or what is wrong with it. */
export function planFragment(
  parts: Pick<AdminParts, 'kinds'>,
  { fragment, prefix }: Pick<CatalogueEdit, 'fragment' | 'prefix'>,
  known: Catalogue,
): Done<PlannedFragment> {
  const loaded = loadGatewayNode(jsonNode(fragment), { kinds: parts.kinds, known, missing: 'stays' })
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

/** A row the gateway file has no word for removing. */
export async function removeRow(
  parts: AdminParts,
  row: { readonly change: CatalogueChange; readonly action: string; readonly subject: string },
  actor: Actor,
): Promise<void> {
  await parts.storage.audit.act(async (stores) => {
    await stores.catalogue.apply([row.change])
    const changes = [{ field: row.subject, from: 'there', to: null }]
    return {
      value: undefined,
      act: { at: actor.at, actor, action: row.action, subject: row.subject, changes },
    }
  })
}
