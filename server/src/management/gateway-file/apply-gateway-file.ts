/** `sluice apply`, and the first start with a gateway file: the stored state becomes that of the file. */
import type { Mistake } from '../../config/gateway-file/file-node.ts'
import type { AuditedAct, AuditedStores, AuditedWork } from '../../storage/stores/audit.ts'
import type { Account } from '../../storage/stores/accounts.ts'
import { StorageConflict } from '../../storage/failures/conflict.ts'
import type { Storage } from '../../storage/storage.ts'
import { type Actor, auditedChanges } from '../admin/acts.ts'
import { rememberedPasswordCheck } from './account-state.ts'
import type { Difference } from './difference.ts'
import type { AccountPlan } from './plan-accounts.ts'
import { type FileOptions, type FilePlan, planFile, type PlanStorage } from './plan-file.ts'
import {
  hashOfPlan,
  type NewKey,
  type PlanWriting,
  writeAccountPlan,
  type WrittenAccount,
} from './write-account.ts'

export type ApplyOptions = FileOptions & {
  /** `dry-run`: report what would change, and change nothing. */
  readonly mode: 'apply' | 'dry-run'
  /** For the audit log; absent: there is no actor at the first start. */
  readonly actor?: Actor
}

export type ApplyResult =
  | { readonly kind: 'mistakes'; readonly mistakes: readonly Mistake[] }
  | {
      readonly kind: 'applied' | 'planned'
      /** Empty: everything is as in the file. */
      readonly differences: readonly Difference[]
      /** Warnings that do not prevent applying. */
      readonly warnings: readonly Mistake[]
      /** Keys created with a random secret, which can only be shown now. */
      readonly newKeys: readonly NewKey[]
    }

type GatewayStorage = PlanStorage & Pick<Storage, 'audit'>

/** Reads, checks and compares first; writes only if the whole file is valid. Applying it again changes nothing. */
export async function applyGatewayFile(storage: GatewayStorage, options: ApplyOptions): Promise<ApplyResult> {
  const plan = await planFile(storage, options, rememberedPasswordCheck())
  if (plan.kind === 'mistakes') return plan
  if (options.mode === 'dry-run') return plannedResult(plan)
  const newKeys = await write(storage, { plan, at: options.at, actor: options.actor })
  return { ...plannedResult(plan), kind: 'applied', newKeys }
}

function plannedResult({
  differences,
  warnings,
}: FilePlan): Exclude<ApplyResult, { readonly kind: 'mistakes' }> {
  return { kind: 'planned', differences, warnings, newKeys: [] }
}

export type ReviewedOptions = FileOptions & {
  readonly actor: Actor
  /** Whether these are the previewed differences; false: nothing is written. */
  readonly isAsReviewed: (differences: readonly Difference[]) => boolean
}

/**
 * Everything or nothing, in one transaction that reads everything again and excludes other acts: what is written is
 * what was previewed. `planned`: the differences would be others by now. Files that come over HTTP are small enough for
 * that.
 */
export async function applyReviewedGatewayFile(
  storage: GatewayStorage,
  options: ReviewedOptions,
): Promise<ApplyResult> {
  const isPasswordKept = rememberedPasswordCheck()
  const looked = await planFile(storage, options, isPasswordKept)
  if (looked.kind === 'mistakes') return looked
  // Verified and hashed beforehand: both are deliberately slow, and others wait for the transaction.
  const hashes = new Map<string, string | undefined>()
  for (const account of looked.accounts) hashes.set(account.label, await hashOfPlan(account))
  const overtaken = plannedResult(looked)
  if (!options.isAsReviewed(looked.differences)) return overtaken
  try {
    return await storage.audit.act(
      async (stores) => {
        const plan = await planFile(stores, options, isPasswordKept)
        if (plan.kind === 'mistakes' || !options.isAsReviewed(plan.differences))
          return { value: plan.kind === 'mistakes' ? plan : plannedResult(plan), act: undefined }
        return writeReviewed(stores, plan, { ...options, hashes })
      },
      { alone: true },
    )
  } catch (error) {
    if (!(error instanceof StorageConflict)) throw error
    // The same account or key was created at the same moment: everything was rolled back.
    return overtaken
  }
}

interface ReviewedWriting {
  readonly actor: Actor
  readonly at: number
  /** Hashes of the new passwords, by the account's label. */
  readonly hashes: ReadonlyMap<string, string | undefined>
}

async function writeReviewed(
  stores: AuditedStores,
  plan: FilePlan,
  { actor, at, hashes }: ReviewedWriting,
): Promise<AuditedWork<ApplyResult>> {
  const { catalogue } = plan
  const acts: AuditedAct[] = []
  const newKeys: NewKey[] = []
  if (catalogue.changes.length > 0) {
    await stores.catalogue.apply(catalogue.changes)
    acts.push(catalogueAct(plan, actor))
  }
  const { keyPrefix } = catalogue.settings
  for (const account of plan.accounts) {
    const passwordHash = hashes.get(account.label)
    const written = await writeAccountPlan(stores, account, {
      passwordHash,
      keyPrefix,
      at,
      conflicts: 'rise',
    })
    newKeys.push(...written.newKeys)
    const act = accountAct(account, written, actor)
    if (act !== undefined) acts.push(act)
  }
  for (const account of plan.pruned) {
    await stores.accounts.patch(account.id, SUSPENDED)
    acts.push(suspensionAct(account, actor))
  }
  const [act, ...further] = acts
  return { value: { ...plannedResult(plan), kind: 'applied', newKeys }, act, further }
}

interface Work {
  readonly plan: FilePlan
  readonly at: number
  readonly actor: Actor | undefined
}

/**
 * The catalogue in one transaction, then account by account. Each step is complete in itself, so after a crash between
 * two steps the next run continues from there.
 */
async function write(storage: GatewayStorage, work: Work): Promise<readonly NewKey[]> {
  const { plan, at, actor } = work
  await writeCatalogue(storage, work)
  const newKeys: NewKey[] = []
  const { keyPrefix } = plan.catalogue.settings
  for (const account of plan.accounts) {
    const passwordHash = await hashOfPlan(account)
    const written = await writeAccountStep(storage, account, { passwordHash, keyPrefix, at, actor })
    newKeys.push(...written.newKeys)
  }
  for (const account of plan.pruned) await suspend(storage, account, actor)
  return newKeys
}

async function writeCatalogue(storage: GatewayStorage, { plan, actor }: Work): Promise<void> {
  const { changes } = plan.catalogue
  if (changes.length === 0) return
  if (actor === undefined) {
    await storage.catalogue.apply(changes)
    return
  }
  await storage.audit.act(async (stores) => {
    await stores.catalogue.apply(changes)
    return { value: undefined, act: catalogueAct(plan, actor) }
  })
}

/** The account and its entry in one transaction, as when an admin changes it. */
async function writeAccountStep(
  storage: GatewayStorage,
  plan: AccountPlan,
  { actor, ...writing }: Omit<PlanWriting, 'conflicts'> & Pick<Work, 'actor'>,
): Promise<WrittenAccount> {
  if (actor === undefined) return writeAccountPlan(storage, plan, { ...writing, conflicts: 'join' })
  try {
    return await storage.audit.act(async (stores) => {
      const written = await writeAccountPlan(stores, plan, { ...writing, conflicts: 'rise' })
      return { value: written, act: accountAct(plan, written, actor) }
    })
  } catch (error) {
    if (!(error instanceof StorageConflict)) throw error
    // The same account or key was created at the same moment, which aborts the transaction: the steps are run one by
    // one instead, which finds it.
    const written = await writeAccountPlan(storage, plan, { ...writing, conflicts: 'join' })
    const act = accountAct(plan, written, actor)
    if (act !== undefined) await storage.audit.record(act)
    return written
  }
}

const SUSPENDED = { status: 'suspended' } as const

async function suspend(storage: GatewayStorage, account: Account, actor: Actor | undefined): Promise<void> {
  if (actor === undefined) {
    await storage.accounts.patch(account.id, SUSPENDED)
    return
  }
  await storage.audit.act(async (stores) => {
    await stores.accounts.patch(account.id, SUSPENDED)
    return { value: undefined, act: suspensionAct(account, actor) }
  })
}

function catalogueAct({ catalogue }: FilePlan, actor: Actor): AuditedAct {
  const changes = auditedChanges(catalogue.differences)
  return { at: actor.at, actor, action: 'file.apply', subject: 'catalogue', changes }
}

/** undefined: nothing of the account has changed. */
function accountAct(plan: AccountPlan, { id }: WrittenAccount, actor: Actor): AuditedAct | undefined {
  if (plan.differences.length === 0) return undefined
  const action = plan.account === undefined ? 'account.create' : 'account.change'
  return { at: actor.at, actor, action, subject: id, changes: auditedChanges(plan.differences) }
}

function suspensionAct({ id, status }: Account, actor: Actor): AuditedAct {
  const changes = [{ field: 'status', from: status, to: SUSPENDED.status }]
  return { at: actor.at, actor, action: 'account.suspend', subject: id, changes }
}
