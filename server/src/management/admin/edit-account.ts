/**
 * An account changed by an admin: every field of the gateway file's accounts, by the file's own readers and plan. The
 * file's opening amounts are here the target amounts: the difference is booked.
 */
import { say } from '../../core/sentences/say.ts'
import type { Mistake } from '../../config/gateway-file/file-node.ts'
import type { AccountFileRow } from '../../config/gateway-file/gateway-file.ts'
import { jsonNode } from '../../config/gateway-file/json-node.ts'
import { loadGatewayNode } from '../../config/gateway-file/load.ts'
import type { Catalogue, DecimalText } from '../../core/catalogue.ts'
import type { AccountId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import { type MicroCredits, microCredits } from '../../core/money.ts'
import type { AuditedChange, AuditedStores } from '../../storage/stores/audit.ts'
import { StorageConflict } from '../../storage/failures/conflict.ts'
import { hashOfPlan, type NewKey, writeAccountPlan } from '../gateway-file/write-account.ts'
import { creditsOfText, creditsOfYuan, creditsText, yuanText } from '../money/amounts.ts'
import { verifyPassword } from '../accounts/passwords.ts'
import { readAccountState } from '../gateway-file/account-state.ts'
import type { Difference } from '../gateway-file/difference.ts'
import { findLargeAmounts } from '../gateway-file/large-amounts.ts'
import { type AccountPlan, planAccount } from '../gateway-file/plan-accounts.ts'
import { idempotencyOf } from '../acts.ts'
import { grantTransfer } from '../money/grants.ts'
import { timeOrderedId } from '../new-id.ts'
import { CLOSED, isClosed } from './account-acts.ts'
import { type Actor, auditedChanges, bodyMistake, done, type Done, type AdminParts } from './acts.ts'
import type { Account } from '../../storage/stores/accounts.ts'

export interface EditedAccount {
  readonly id: AccountId
  readonly differences: readonly Difference[]
  /** Keys created with a random secret, which can only be shown now. */
  readonly newKeys: readonly NewKey[]
}

/** `other-request`: the idempotency key was used to set another amount; nothing was changed. */
export type EditOutcome = Done<EditedAccount> | { readonly kind: 'other-request' }

/** Thrown to roll the transaction back. */
class OtherRequest extends Error {}

const PREFIX = 'accounts[0]'

/** A new account; `credits` and `balance` are its opening amounts. */
export async function addAccount(parts: AdminParts, body: JsonObject, actor: Actor): Promise<EditOutcome> {
  const catalogue = await parts.storage.catalogue.read()
  const row = readRow(parts, body, catalogue)
  if (row.kind !== 'done') return row
  const taken = await takenLogins(parts, row.value, undefined)
  if (taken.length > 0) return { kind: 'mistakes', mistakes: taken }
  const plan = await planFor(parts, { row: row.value, account: undefined, catalogue, at: actor.at })
  if (plan.kind !== 'done') return plan
  return write(parts, { plan: plan.value, catalogue, amounts: [], action: 'account.create' }, actor)
}

export interface AccountChange {
  /** Only the fields to change. */
  readonly body: JsonObject
  /** Amounts are set once per key. */
  readonly idempotencyKey: string | undefined
}

export async function changeAccount(
  parts: AdminParts,
  id: AccountId,
  { body, idempotencyKey }: AccountChange,
  actor: Actor,
): Promise<EditOutcome> {
  const account = await parts.storage.accounts.find(id)
  if (account === undefined) return { kind: 'missing' }
  if (await isClosed(parts.storage, account)) return CLOSED
  if (id === actor.accountId && (body['role'] === 'user' || body['status'] === 'suspended'))
    return {
      kind: 'conflict',
      message: say('not-from-yourself'),
    }
  const catalogue = await parts.storage.catalogue.read()
  const row =
    account.kind === 'organisation'
      ? readOrganisationRow(parts, body, catalogue)
      : readRow(parts, { ...loginOf(account), ...body }, catalogue)
  if (row.kind !== 'done') return row
  const taken = await takenLogins(parts, row.value, id)
  if (taken.length > 0) return { kind: 'mistakes', mistakes: taken }
  const { credits, balance, ...rest } = row.value
  const planned = await planFor(parts, {
    row: { ...rest, credits: undefined, balance: undefined },
    account,
    catalogue,
    at: actor.at,
  })
  if (planned.kind !== 'done') return planned
  const { creditsPerUnit } = catalogue.settings
  const amounts: readonly TargetAmount[] = [
    ...(credits === undefined ? [] : [{ pool: 'credits', amount: creditsOfText(credits) } as const]),
    ...(balance === undefined
      ? []
      : [{ pool: 'balance', amount: creditsOfYuan(balance, creditsPerUnit) } as const]),
  ]
  const writing = { plan: planned.value, catalogue, amounts, action: 'account.change', idempotencyKey }
  return write(parts, writing, actor)
}

/** The target of a pool that customers can spend. */
interface TargetAmount {
  readonly pool: 'credits' | 'balance'
  readonly amount: MicroCredits
}

/** Accounts in a file need a login; a change without one keeps the present login. */
function loginOf({ email, phone }: Account): JsonObject {
  return email === undefined ? { phone: phone ?? null } : { email }
}

/** Fields for signing in and for roles, which organisations do not have. */
const PERSONAL = ['email', 'phone', 'password', 'role']
/** Placeholder for the login that a file's account needs; removed again afterwards. */
const NO_LOGIN = { email: 'organisation@localhost' }

function readOrganisationRow(parts: AdminParts, body: JsonObject, known: Catalogue): Done<AccountFileRow> {
  const mistakes = PERSONAL.filter((name) => body[name] !== undefined).map((path) => ({
    path,
    message: say('organisation-has-no-sign-in'),
  }))
  if (mistakes.length > 0) return { kind: 'mistakes', mistakes }
  const row = readRow(parts, { ...body, ...NO_LOGIN }, known)
  return row.kind === 'done' ? done({ ...row.value, email: undefined }) : row
}

function readRow(parts: AdminParts, body: JsonObject, known: Catalogue): Done<AccountFileRow> {
  const loaded = loadGatewayNode(jsonNode({ accounts: [body] }), {
    kinds: parts.kinds,
    known,
    missing: 'stays',
    phoneRegion: parts.phoneRegion,
  })
  if (loaded.kind === 'mistakes') return refused(loaded.mistakes)
  const [row] = loaded.file.accounts ?? []
  if (row === undefined) throw new Error('a file with one account was read and holds none')
  return done(row)
}

function refused(mistakes: readonly Mistake[]): Done<never> {
  return { kind: 'mistakes', mistakes: mistakes.map((mistake) => bodyMistake(mistake, PREFIX)) }
}

/** Reports an address or number of another account with its path, before the store would refuse it. */
async function takenLogins({ storage }: AdminParts, row: AccountFileRow, own: AccountId | undefined) {
  const { email, phone } = row
  const byEmail = email === undefined ? undefined : await storage.accounts.findByLogin({ email })
  const byPhone = phone === undefined ? undefined : await storage.accounts.findByLogin({ phone })
  return [
    { path: 'email', holder: byEmail },
    { path: 'phone', holder: byPhone },
  ]
    .filter(({ holder }) => holder !== undefined && holder.id !== own)
    .map(({ path }) => ({ path, message: say('belongs-to-another-account') }))
}

async function planFor(
  { storage }: AdminParts,
  about: {
    readonly row: AccountFileRow
    readonly account: Account | undefined
    readonly catalogue: Catalogue
    readonly at: number
  },
): Promise<Done<AccountPlan>> {
  const mistakes: Mistake[] = []
  const state = await readAccountState(storage, { ...about, isPasswordKept: verifyPassword }, mistakes)
  if (mistakes.length > 0) return refused(mistakes)
  const { settings, plans } = about.catalogue
  const plan = planAccount(state, { settings, plans, missing: 'stays', at: about.at })
  const large = findLargeAmounts(about.row, plan)
  return large.length > 0 ? refused(large) : done(plan)
}

interface Writing {
  readonly plan: AccountPlan
  readonly catalogue: Catalogue
  readonly amounts: readonly TargetAmount[]
  readonly action: string
  /** Idempotency key of the booking: amounts are set once per key. */
  readonly idempotencyKey?: string | undefined
}

async function write(parts: AdminParts, writing: Writing, actor: Actor): Promise<EditOutcome> {
  const { plan, catalogue, amounts, action } = writing
  const { keyPrefix, creditsPerUnit } = catalogue.settings
  const passwordHash = await hashOfPlan(plan)
  const { at } = actor
  try {
    return await parts.storage.audit.act(async (stores) => {
      const { id, newKeys } = await writeAccountPlan(stores, plan, {
        passwordHash,
        keyPrefix,
        at,
        conflicts: 'rise',
      })
      const booked: AuditedChange[] = []
      for (const target of amounts) {
        const { idempotencyKey } = writing
        booked.push(...(await moveTo(stores, { id, target, actor, creditsPerUnit, idempotencyKey })))
      }
      const changes = [...auditedChanges(plan.differences), ...booked]
      return {
        value: done({ id, differences: plan.differences, newKeys }),
        act: changes.length === 0 ? undefined : { at, actor, action, subject: id, changes },
      }
    })
  } catch (error) {
    if (error instanceof OtherRequest) return { kind: 'other-request' }
    if (!(error instanceof StorageConflict)) throw error
    return { kind: 'conflict', message: say('login-taken') }
  }
}

interface Move {
  readonly id: AccountId
  readonly target: TargetAmount
  readonly actor: Actor
  readonly creditsPerUnit: DecimalText
  readonly idempotencyKey: string | undefined
}

/** The difference is computed under the account's lock, so concurrent changes are neither lost nor counted twice. */
async function moveTo(stores: AuditedStores, move: Move): Promise<readonly AuditedChange[]> {
  const { id, target, actor, creditsPerUnit, idempotencyKey: key } = move
  const { pool, amount: wanted } = target
  let before: MicroCredits = wanted
  const outcome = await stores.customers.acts.perform<never>({
    accountId: id,
    operation: `admin-set-${pool}`,
    idempotency: idempotencyOf(
      { at: actor.at, idempotencyKey: key === undefined ? undefined : `${actor.accountId ?? ''}/${key}` },
      [wanted.toString()],
    ),
    at: actor.at,
    ...(target.pool === 'balance' ? { creditsPerUnit } : {}),
    decide: ({ account }) => {
      before = target.pool === 'credits' ? microCredits(account.credits - account.held) : account.balance
      const booking = {
        accountId: id,
        pool: target.pool,
        amount: microCredits(target.amount - before),
        transactionId: timeOrderedId(actor.at),
        reference: `set by ${actor.name}`,
        at: actor.at,
      }
      return {
        kind: 'done',
        transfers: before === target.amount ? [] : [grantTransfer(booking)],
        answer: {},
      }
    },
  })
  if (outcome.kind === 'other-request') throw new OtherRequest()
  const shown = (amount: MicroCredits) =>
    target.pool === 'credits' ? creditsText(amount) : yuanText(amount, creditsPerUnit)
  if (before === target.amount) return []
  return [{ field: target.pool, from: shown(before), to: shown(target.amount) }]
}
