/** Redemption codes: created by an admin, shown once, redeemed by their holders. */
import { say, type Sentence } from '../../core/sentences/say.ts'
import { HOUR_MS } from '../../core/durations.ts'
import { createHash, randomBytes } from 'node:crypto'
import type { AttemptBucket } from '../../core/identity/attempt-bucket.ts'
import type { DecimalText } from '../../core/catalogue.ts'
import type { AccountId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import { AMOUNT_MAX, type MicroCredits, microCredits } from '../../core/money.ts'
import { CODE_VALUE_BITS, codeHint, readCode, writeCode } from '../../core/top-up/code-text.ts'
import type { Pool } from '../../core/top-up/payment.ts'
import type { AuditedChange, AuditedStores } from '../../storage/stores/audit.ts'
import type { Storage } from '../../storage/storage.ts'
import type {
  NewRedemptionCode,
  RedemptionBatch,
  RedemptionCode,
  RedemptionOutcome,
  ShownBatch,
} from '../../storage/stores/top-ups.ts'
import { type Asking, idempotencyOf } from '../acts.ts'
import type { Actor, Done } from '../admin/acts.ts'
import { done } from '../admin/acts.ts'
import { creditsText, yuanText } from '../money/amounts.ts'
import { placeOf } from '../identity/limits.ts'
import { timeOrderedId } from '../new-id.ts'

const NUMBER_DIGITS = 5

/** Why a code's amount is not allowed; a sentence that continues after the amount's name. */
export function findWorthMistake(amount: MicroCredits): Sentence | undefined {
  if (amount <= 0n) return say('must-be-above-0')
  return amount > AMOUNT_MAX ? say('more-than-code-may-be-worth') : undefined
}

export interface BatchRequest {
  readonly pool: Pool
  /**
   * µCr of one code, without a `findWorthMistake`. A balance in yuan is converted at the rate of the code's creation.
   */
  readonly amount: MicroCredits
  readonly count: number
  readonly expiresAt: number | undefined
  readonly note: string | undefined
  /** undefined: every request creates new codes. */
  readonly idempotencyKey: string | undefined
}

export interface MadeBatch {
  readonly batch: ShownBatch
  /** Only shown now: the store has only hashes. */
  readonly codes: readonly string[]
}

export type MadeCodes =
  | { readonly kind: 'made'; readonly made: MadeBatch }
  /** They were created before under this idempotency key, and cannot be shown again. */
  | { readonly kind: 'made-before'; readonly batchId: string }
  | { readonly kind: 'other-request' }

export async function createCodes(
  storage: Pick<Storage, 'audit' | 'catalogue'>,
  { count, idempotencyKey, ...request }: BatchRequest,
  actor: Actor,
): Promise<MadeCodes> {
  const { at, name: createdBy } = actor
  const id = `bat_${timeOrderedId(at)}`
  const batch: RedemptionBatch = { ...request, id, codes: count, createdAt: at, createdBy }
  const shown = { ...batch, redeemed: 0, voided: 0, voidedAt: undefined }
  const codes = Array.from({ length: count }, drawCode)
  const rows = codes.map(
    (code, index): NewRedemptionCode => ({
      id: `${id}.${index.toString().padStart(NUMBER_DIGITS, '0')}`,
      hash: hashCode(code),
      hint: codeHint(code),
    }),
  )
  const { creditsPerUnit } = (await storage.catalogue.read()).settings
  return storage.audit.act<MadeCodes>(async (stores) => {
    const before = await noteOnce(stores, { id, batch, idempotencyKey }, actor)
    if (before !== undefined) return { value: before, act: undefined }
    await stores.topUps.codes.create(batch, rows, batch.pool === 'balance' ? { creditsPerUnit } : {})
    const changes = changesOf(viewBatch(shown, creditsPerUnit))
    return {
      value: { kind: 'made', made: { batch: shown, codes } },
      act: { at, actor, action: 'codes.create', subject: id, changes },
    }
  })
}

function changesOf(shown: ReturnType<typeof viewBatch>): readonly AuditedChange[] {
  return (['count', 'credits', 'yuan', 'expires_at', 'note'] as const)
    .filter((field) => shown[field] !== null)
    .map((field) => ({ field, from: null, to: shown[field] }))
}

/** undefined: not requested before under this key. Idempotency keys belong to the admin who sends them. */
async function noteOnce(
  { customers }: AuditedStores,
  asked: {
    readonly id: string
    readonly batch: RedemptionBatch
    readonly idempotencyKey: string | undefined
  },
  { accountId, at }: Actor,
): Promise<Exclude<MadeCodes, { kind: 'made' }> | undefined> {
  const { id, batch, idempotencyKey } = asked
  if (accountId === undefined || idempotencyKey === undefined) return undefined
  const words = [batch.pool, batch.amount, batch.codes, batch.expiresAt ?? '', batch.note ?? ''].map(String)
  const outcome = await customers.acts.perform<never>({
    accountId,
    operation: 'create-codes',
    idempotency: idempotencyOf({ at, idempotencyKey }, words),
    at,
    decide: () => ({ kind: 'done', transfers: [], answer: { batch_id: id } }),
  })
  if (outcome.kind === 'other-request') return outcome
  if (outcome.kind !== 'done') throw new Error('an admin without an account made codes')
  const { batch_id: batchId } = outcome.answer
  if (typeof batchId !== 'string') throw new Error('a stored batch of codes has no id')
  return outcome.repeated ? { kind: 'made-before', batchId } : undefined
}

/** For five of 37 values the check symbol would be a punctuation mark; those are drawn again. */
function drawCode(): string {
  for (;;) {
    const value = BigInt(`0x${randomBytes(Math.ceil(CODE_VALUE_BITS / 8)).toString('hex')}`)
    const code = writeCode(BigInt.asUintN(CODE_VALUE_BITS, value))
    if (code !== undefined) return code
  }
}

/** A plain hash is enough: 95 random bits cannot be guessed. */
function hashCode(code: string): string {
  return createHash('sha256').update(`redemption code ${code}`, 'utf8').digest('hex')
}

/** Voids the open codes of a batch. */
export function voidBatch(
  storage: Pick<Storage, 'audit'>,
  id: string,
  actor: Actor,
): Promise<Done<{ readonly voided: number }>> {
  return storage.audit.act<Done<{ readonly voided: number }>>(async (stores) => {
    const voided = await stores.topUps.codes.voidBatch(id, actor.at)
    if (voided === undefined) return { value: { kind: 'missing' }, act: undefined }
    const changes = [{ field: 'codes made void', from: null, to: voided }]
    return {
      value: done({ voided }),
      act: { at: actor.at, actor, action: 'codes.void', subject: id, changes },
    }
  })
}

/** @param reference the id of a code, or the code itself */
export async function voidCode(
  storage: Pick<Storage, 'audit' | 'topUps'>,
  reference: string,
  actor: Actor,
): Promise<Done<RedemptionCode>> {
  const found = await findCode(storage, reference)
  if (found === undefined) return { kind: 'missing' }
  return storage.audit.act<Done<RedemptionCode>>(async (stores) => {
    if (!(await stores.topUps.codes.voidCode(found.id))) {
      const message = say(found.status === 'void' ? 'code-void-already' : 'code-redeemed-already')
      return { value: { kind: 'conflict', message }, act: undefined }
    }
    const changes = [{ field: `code ${found.hint}-…: status`, from: 'open', to: 'void' }]
    return {
      value: done({ ...found, status: 'void' }),
      act: { at: actor.at, actor, action: 'codes.void', subject: found.id, changes },
    }
  })
}

function findCode(
  { topUps }: Pick<Storage, 'topUps'>,
  reference: string,
): Promise<RedemptionCode | undefined> {
  const code = readCode(reference)
  return topUps.codes.findCode(code === undefined ? { id: reference } : { hash: hashCode(code) })
}

export interface RedeemRequest extends Asking {
  readonly accountId: AccountId
  /** As it was typed. */
  readonly code: string
  /** Where the request comes from. */
  readonly address: string
  readonly creditsPerUnit: DecimalText
}

export type Redeemed =
  | RedemptionOutcome
  /** Too many wrong codes. */
  | { readonly kind: 'too-many'; readonly retryAfterMs: number }

/**
 * An attempt is taken before the code is looked up, and given back if the code exists, whatever its state: its holder
 * has not guessed. Every wrong code costs the same work, even one with an invalid form.
 */
export async function redeemCode(
  storage: Pick<Storage, 'topUps' | 'identity'>,
  request: RedeemRequest,
): Promise<Redeemed> {
  const { accountId, at, creditsPerUnit } = request
  const { attempts } = storage.identity
  const buckets = redeemBuckets(accountId, request.address)
  const waitMs = await attempts.take(buckets, at)
  if (waitMs !== undefined) return { kind: 'too-many', retryAfterMs: waitMs }
  const code = readCode(request.code)
  const hash = hashCode(code ?? 'none')
  const transactionId = timeOrderedId(at)
  const outcome = await storage.topUps.codes.redeem({
    accountId,
    hash,
    transactionId,
    idempotency: idempotencyOf(request, [hash]),
    at,
    answer: ({ batch: { pool, amount }, account }): JsonObject => {
      const credits = microCredits(account.credits - account.held + (pool === 'credits' ? amount : 0n))
      const balance = microCredits(account.balance + (pool === 'balance' ? amount : 0n))
      return {
        id: transactionId,
        ...worthOf({ pool, amount }, creditsPerUnit),
        account: { credits: creditsText(credits), balance: yuanText(balance, creditsPerUnit) },
      }
    },
  })
  if (outcome.kind !== 'unknown') await attempts.giveBack(buckets)
  return outcome
}

/**
 * Limits for one account, and for all accounts behind one address: many people at an event may redeem codes from the
 * same network.
 */
const WRONG_CODES_PER_ACCOUNT = 20
const WRONG_CODES_PER_PLACE = 100

function redeemBuckets(account: AccountId, address: string): readonly AttemptBucket[] {
  return [
    { subject: `redeem/account/${account}`, limit: WRONG_CODES_PER_ACCOUNT, windowMs: HOUR_MS },
    { subject: `redeem/place/${placeOf(address)}`, limit: WRONG_CODES_PER_PLACE, windowMs: HOUR_MS },
  ]
}

/** The value in one of the two pools; the other field is null. */
export interface Worth {
  readonly credits: DecimalText | null
  readonly yuan: DecimalText | null
}

export function worthOf(
  { pool, amount }: { readonly pool: Pool; readonly amount: MicroCredits },
  creditsPerUnit: DecimalText,
): Worth {
  return pool === 'credits'
    ? { credits: creditsText(amount), yuan: null }
    : { credits: null, yuan: yuanText(amount, creditsPerUnit) }
}

export function viewBatch(batch: ShownBatch, creditsPerUnit: DecimalText) {
  return {
    id: batch.id,
    ...worthOf(batch, creditsPerUnit),
    count: batch.codes,
    redeemed: batch.redeemed,
    voided: batch.voided,
    expires_at: timeText(batch.expiresAt),
    note: batch.note ?? null,
    created_at: new Date(batch.createdAt).toISOString(),
    created_by: batch.createdBy,
    voided_at: timeText(batch.voidedAt),
  } as const
}

export function viewCode(code: RedemptionCode) {
  return {
    id: code.id,
    batch_id: code.batchId,
    hint: code.hint,
    status: code.status,
    redeemed_by: code.redeemedBy ?? null,
    redeemed_at: timeText(code.redeemedAt),
  } as const
}

export function timeText(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString()
}

/** One code per line with its value, for printing or selling. */
export function codesCsv({ batch, codes }: MadeBatch, creditsPerUnit: DecimalText): string {
  const { credits, yuan, expires_at: expires } = viewBatch(batch, creditsPerUnit)
  const rest = `${credits ?? ''},${yuan ?? ''},${expires ?? ''}`
  return ['code,credits,yuan,expires_at', ...codes.map((code) => `${code},${rest}`), ''].join('\r\n')
}
