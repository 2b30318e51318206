/** Acts of an admin on one account: grant, suspend, reactivate, impersonate. */
import { say, type Sentence } from '../../core/sentences/say.ts'
import { createHash } from 'node:crypto'
import type { Transfer } from '../../core/ledger/hot-rows.ts'
import type { DecimalText } from '../../core/catalogue.ts'
import type { AccountId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import type { MicroCredits } from '../../core/money.ts'
import type { AuditedChange, AuditedStores, AuditedWork } from '../../storage/stores/audit.ts'
import type { Idempotency } from '../../storage/stores/customers.ts'
import { Overdraft } from '../../storage/failures/overdraft.ts'
import type { Storage } from '../../storage/storage.ts'
import { creditsText, yuanText } from '../money/amounts.ts'
import { grantTransfer } from '../money/grants.ts'
import { type OpenedSession, openSession } from '../identity/sessions/sessions.ts'
import { timeOrderedId } from '../new-id.ts'
import { type Actor, done, type Done, type AdminParts } from './acts.ts'
import type { Account } from '../../storage/stores/accounts.ts'

export interface AdminGrant {
  readonly pool: 'credits' | 'balance'
  /** µCr; negative takes back, never below zero. */
  readonly amount: MicroCredits
  readonly reason: string | undefined
}

export interface Granted {
  readonly transactionId: string
  /** The same grant was made before under this key: nothing was moved now. */
  readonly repeated: boolean
}

/**
 * Once per idempotency key: repeating key and grant returns the first answer; the key with another grant is a conflict.
 */
export async function grantByAdmin(
  { storage }: AdminParts,
  id: AccountId,
  request: { readonly grant: AdminGrant; readonly idempotencyKey: string },
  actor: Actor,
): Promise<GrantOutcome> {
  const { grant, idempotencyKey } = request
  const { creditsPerUnit } = (await storage.catalogue.read()).settings
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([id, grant.pool, grant.amount.toString(), grant.reason ?? null]))
    .digest('hex')
  const transactionId = timeOrderedId(actor.at)
  const transfer = grantTransfer({
    accountId: id,
    pool: grant.pool,
    amount: grant.amount,
    transactionId,
    reference: grant.reason ?? `granted by ${actor.name}`,
    at: actor.at,
  })
  const booking: GrantBooking = {
    transfer,
    creditsPerUnit,
    idempotency: { key: `${actor.accountId ?? ''}/${idempotencyKey}`, fingerprint },
    shown: grant.pool === 'credits' ? creditsText(grant.amount) : yuanText(grant.amount, creditsPerUnit),
  }
  try {
    return await storage.audit.act((stores) => bookGrant(stores, id, { grant, booking }, actor))
  } catch (error) {
    if (!(error instanceof Overdraft)) throw error
    return {
      kind: 'conflict',
      message: say(grant.pool === 'credits' ? 'account-has-less-credits' : 'account-has-less-balance'),
    }
  }
}

interface GrantBooking {
  readonly transfer: Transfer
  readonly creditsPerUnit: DecimalText
  readonly idempotency: Idempotency
  readonly shown: string
}

async function bookGrant(
  stores: AuditedStores,
  id: AccountId,
  { grant, booking }: { readonly grant: AdminGrant; readonly booking: GrantBooking },
  actor: Actor,
): Promise<AuditedWork<GrantOutcome>> {
  const { transfer, idempotency, shown, creditsPerUnit } = booking
  const { at } = actor
  const outcome = await stores.customers.acts.perform<never>({
    accountId: id,
    operation: 'admin-grant',
    idempotency,
    at,
    ...(grant.pool === 'balance' ? { creditsPerUnit } : {}),
    decide: () => ({
      kind: 'done',
      transfers: [transfer],
      answer: { transaction_id: transfer.transactionId },
    }),
  })
  switch (outcome.kind) {
    case 'no-account':
      return { value: { kind: 'missing' }, act: undefined }
    case 'other-request':
      return { value: { kind: 'other-request' }, act: undefined }
    case 'refused':
      throw new Error('a grant that refuses nothing was refused')
    case 'done': {
      const value = done({ transactionId: transactionOf(outcome.answer), repeated: outcome.repeated })
      if (outcome.repeated) return { value, act: undefined }
      const changes: readonly AuditedChange[] = [
        { field: `${grant.pool} granted`, from: null, to: shown },
        { field: 'reason', from: null, to: grant.reason ?? null },
      ]
      return { value, act: { at, actor, action: 'account.grant', subject: id, changes } }
    }
  }
}

export type GrantOutcome = Done<Granted> | { readonly kind: 'other-request' }

function transactionOf(answer: JsonObject): string {
  const { transaction_id: id } = answer
  if (typeof id !== 'string') throw new Error('a stored grant has no transaction')
  return id
}

/** A suspended account's calls and sessions end at once; the admin's own account cannot be suspended. */
export async function suspendAccount(
  { storage }: AdminParts,
  id: AccountId,
  reason: string | undefined,
  actor: Actor,
): Promise<Done<Account>> {
  if (id === actor.accountId) return { kind: 'conflict', message: say('not-suspend-yourself') }
  return storage.audit.act<Done<Account>>(async (stores) => {
    const account = await stores.accounts.find(id)
    if (account === undefined) return { value: { kind: 'missing' }, act: undefined }
    if (account.status === 'suspended') return { value: done(account), act: undefined }
    await stores.accounts.patch(id, { status: 'suspended' })
    await stores.identity.sessions.revokeAll(id)
    const changes = [statusChange('active', 'suspended'), { field: 'reason', from: null, to: reason ?? null }]
    return {
      value: done({ ...account, status: 'suspended' }),
      act: { at: actor.at, actor, action: 'account.suspend', subject: id, changes },
    }
  })
}

export async function activateAccount(
  { storage }: AdminParts,
  id: AccountId,
  actor: Actor,
): Promise<Done<Account>> {
  return storage.audit.act<Done<Account>>(async (stores) => {
    const account = await stores.accounts.find(id)
    if (account === undefined) return { value: { kind: 'missing' }, act: undefined }
    if (account.status === 'active') return { value: done(account), act: undefined }
    if (await isClosed(stores, account)) return { value: CLOSED, act: undefined }
    await stores.accounts.patch(id, { status: 'active' })
    const changes = [statusChange('suspended', 'active')]
    return {
      value: done({ ...account, status: 'active' }),
      act: { at: actor.at, actor, action: 'account.activate', subject: id, changes },
    }
  })
}

/** A closed organisation has no members who could act for it. */
export async function isClosed(
  storage: Pick<Storage, 'organisations'>,
  { id, kind }: Pick<Account, 'id' | 'kind'>,
): Promise<boolean> {
  return kind === 'organisation' && (await storage.organisations.find(id)) === undefined
}

export const CLOSED = { kind: 'conflict', message: say('organisation-closed') } as const

function statusChange(from: string, to: string): AuditedChange {
  return { field: 'status', from, to }
}

/**
 * A session of the customer's account for at most an hour that records the impersonator. Admins cannot be impersonated.
 */
export async function impersonate(
  { storage }: AdminParts,
  id: AccountId,
  request: { readonly reason: string; readonly userAgent: string },
  actor: Actor,
): Promise<Done<OpenedSession>> {
  const { accountId: admin, sessionId: session } = actor
  if (admin === undefined || session === undefined) {
    throw new Error('only a signed-in administrator can impersonate an account')
  }
  return storage.audit.act<Done<OpenedSession>>(async (stores) => {
    const account = await stores.accounts.find(id)
    if (account === undefined) return { value: { kind: 'missing' }, act: undefined }
    const refusal = whyNotImpersonated(account)
    if (refusal !== undefined) return { value: { kind: 'conflict', message: refusal }, act: undefined }
    const opened = await openSession(
      stores,
      {
        accountId: id,
        method: 'impersonation',
        opener: { admin, session },
        secondFactor: false,
        userAgent: request.userAgent,
        address: actor.address,
      },
      actor.at,
    )
    const changes: readonly AuditedChange[] = [
      { field: 'session', from: null, to: opened.session.id },
      { field: 'ends_at', from: null, to: new Date(opened.session.endsAt).toISOString() },
      { field: 'reason', from: null, to: request.reason },
    ]
    return {
      value: done(opened),
      act: { at: actor.at, actor, action: 'account.impersonate', subject: id, changes },
    }
  })
}

function whyNotImpersonated(account: Account): Sentence | undefined {
  if (account.kind === 'organisation') return say('organisation-not-impersonated')
  if (account.role === 'admin') return say('administrators-not-impersonated')
  return account.status === 'suspended' ? say('account-suspended') : undefined
}
