/**
 * Changes the catalogue row by row. A request's body is wrapped as a gateway file and uses the file's own checks and
 * plan, so that file, command line and API refuse the same mistakes with the same paths.
 */
import { say, type Sentence } from '../../core/sentences/say.ts'
import { namesAfter } from '../../config/gateway-file/check-rows.ts'
import { jsonNode } from '../../config/gateway-file/json-node.ts'
import { loadGatewayNode } from '../../config/gateway-file/load.ts'
import type { Catalogue } from '../../core/catalogue.ts'
import type { JsonObject } from '../../core/json.ts'
import { ownChange } from '../../core/pricing/currency.ts'
import { rateHoldText } from '../../storage/failures/amount-refused.ts'
import type { AuditedStores, AuditedWork } from '../../storage/stores/audit.ts'
import { StorageConflict } from '../../storage/failures/conflict.ts'
import type { CatalogueChange } from '../../storage/stores/records.ts'
import type { Difference } from '../gateway-file/difference.ts'
import { planCatalogue } from '../gateway-file/plan-catalogue.ts'
import { type Actor, auditedChanges, bodyMistake, done, type Done, type AdminParts } from './acts.ts'
import { type ChainMove, planMove } from './move-chain.ts'

export interface CatalogueEdit {
  /** The catalogue that the edit was made from: the fragment refers to its rows. */
  readonly base: Catalogue
  /** A gateway file with only the row. */
  readonly fragment: JsonObject
  /** The body's path in it: `vendors[0]`. */
  readonly prefix: string
  readonly action: string
  readonly subject: string
  /** The chain to move, found by its id; the fragment has its new key. */
  readonly move?: ChainMove
  /** Further writes in the same transaction; rejects with `StorageConflict` if something else was written meanwhile. */
  readonly more?: (stores: AuditedStores) => Promise<void>
  readonly moreDifferences?: readonly Difference[]
}

export interface Edited {
  /** Empty: nothing had to change. */
  readonly differences: readonly Difference[]
  readonly warnings: readonly string[]
}

const OVERTAKEN: Done<never> = {
  kind: 'conflict',
  message: say('changed-meanwhile'),
}

/**
 * Planned from the catalogue the edit was made from, and again in the writing transaction, which excludes other edits:
 * further differences by then are other people's changes, and are not reverted.
 */
export async function editCatalogue(
  parts: AdminParts,
  edit: CatalogueEdit,
  actor: Actor,
): Promise<Done<Edited>> {
  const looked = planEdit(parts, edit, edit.base)
  if (looked.kind !== 'done' || looked.value.differences.length === 0) return looked
  try {
    return await parts.storage.audit.act<Done<Edited>>(
      async (stores) => {
        const planned = planEdit(parts, edit, await stores.catalogue.read())
        if (planned.kind !== 'done') return { value: planned, act: undefined }
        if (!isSame(planned.value.differences, looked.value.differences))
          return { value: OVERTAKEN, act: undefined }
        return writeEdit(stores, { edit, planned: planned.value, actor })
      },
      { alone: true },
    )
  } catch (error) {
    // Conflict with a change that is not an operator's act: everything was rolled back.
    if (error instanceof StorageConflict) return OVERTAKEN
    throw error
  }
}

function isSame(some: readonly Difference[], others: readonly Difference[]): boolean {
  return JSON.stringify(some) === JSON.stringify(others)
}

interface PlannedEdit extends Edited {
  readonly known: Catalogue
  readonly changes: readonly CatalogueChange[]
}

function planEdit(
  parts: Pick<AdminParts, 'kinds'>,
  edit: CatalogueEdit,
  stored: Catalogue,
): Done<PlannedEdit> {
  const move = edit.move === undefined ? undefined : planMove(stored, edit.move)
  if (move !== undefined && move.kind !== 'done') return move
  const known = move?.value.known ?? stored
  const planned = planFragment(parts, edit, known)
  if (planned.kind !== 'done') return planned
  const { changes, differences, warnings } = planned.value
  const moved = move?.value.difference
  return done({
    known,
    changes: [...(move === undefined ? [] : [move.value.change]), ...changes],
    differences: [...(moved === undefined ? [] : [moved]), ...differences, ...(edit.moreDifferences ?? [])],
    warnings,
  })
}

interface EditWriting {
  readonly edit: CatalogueEdit
  readonly planned: PlannedEdit
  readonly actor: Actor
}

async function writeEdit(
  stores: AuditedStores,
  { edit, planned: { known, changes, differences, warnings }, actor }: EditWriting,
): Promise<AuditedWork<Done<Edited>>> {
  const message = await whyRateStays(stores, known, changes)
  if (message !== undefined) return { value: { kind: 'conflict', message }, act: undefined }
  if (changes.length > 0) await stores.catalogue.apply(changes)
  await edit.more?.(stores)
  const { action, subject } = edit
  const act = { at: actor.at, actor, action, subject, changes: auditedChanges(differences) }
  return { value: done({ differences, warnings }), act }
}

/** Checked beforehand for a clear error; the store checks again. */
async function whyRateStays(
  { catalogue }: Pick<AuditedStores, 'catalogue'>,
  { settings }: Pick<Catalogue, 'settings'>,
  changes: readonly CatalogueChange[],
): Promise<Sentence | undefined> {
  const put = changes.find((change) => change.kind === 'put-settings')
  const change = put === undefined ? undefined : ownChange(settings, put.settings)
  const hold = change === undefined ? undefined : await catalogue.findRateHold(change)
  if (hold === undefined) return undefined
  const setting = change === 'rate' ? `currencies.${settings.currency}` : 'currency'
  return say('setting-held', { setting, why: rateHoldText(hold) })
}

export interface PlannedFragment {
  readonly changes: readonly CatalogueChange[]
  readonly differences: readonly Difference[]
  readonly warnings: readonly string[]
}

/** The differences that writing the fragment would make, or its mistakes. */
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
      return `${path} ${message.text}`
    }),
  })
}

/** Removes a row, which a gateway file cannot express. */
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
