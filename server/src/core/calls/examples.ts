/** Rows and operations with sensible values, for tests: a test names only what it is about. */
import type { Pricing } from '../catalogue.ts'
import {
  accountId,
  callId,
  chainId,
  instanceId,
  keyId,
  type MemberId,
  memberId,
  modelId,
  vendorCode,
} from '../ids.ts'
import { decodeDescription } from '../ledger/call-description.ts'
import { UNLIMITED } from '../limits/policy.ts'
import { type MicroCredits, microCredits, ZERO } from '../money.ts'
import { NO_USAGE, type Usage } from '../canonical/usage.ts'
import { priceCall } from '../pricing/price.ts'
import type { PriceTerms } from '../pricing/terms.ts'
import { type BatchDecision, decideBatch } from './decide.ts'
import type {
  AccountRow,
  HotRows,
  Rows,
  KeyRow,
  LimitState,
  MemberRow,
  OpenCall,
  Subject,
  Transfer,
} from '../ledger/hot-rows.ts'
import { type CallLogRow, EMPTY_LOG_ROW } from '../ledger/log-row.ts'
import {
  type AbandonOperation,
  type Demand,
  type HotOperation,
  type HotOutcome,
  type ReserveOperation,
  type SettleOperation,
} from '../ledger/operations.ts'
import { NOTHING_USED } from '../metering/quantities.ts'

export const KEY = keyId('key_1')
export const ACCOUNT = accountId('acc_1')
export const MEMBER = memberId('mem_1')
export const CHAIN = chainId(1)
export const MODEL = modelId('example-model')
export const FALLBACK = modelId('fallback-model')
export const VENDOR = vendorCode('openai')

export const credits = (count: number): MicroCredits => microCredits(BigInt(Math.round(count * 1_000_000)))

export const NO_PRICES: Pricing = {
  currency: 'CNY',
  billingModes: ['token'],
  inputPrice: null,
  outputPrice: null,
  cacheInputPrice: null,
  cacheOutputPrice: null,
  cacheWritePrice: null,
  cacheWrite1hPrice: null,
  requestPrice: null,
  imagePrice: null,
  videoPrice: null,
  characterPrice: null,
  audioSecondPrice: null,
}

/** 1 Credit per 1 000 input tokens, 10 Credits per 1 000 output tokens. */
export const TERMS: PriceTerms = {
  pricing: { ...NO_PRICES, inputPrice: '1', outputPrice: '10' },
  creditsPerUnit: '1000',
  multipliers: { '1': '1' },
}

export const TERMS_TEXT = JSON.stringify(TERMS)

export function exampleKey(changes: Partial<KeyRow> = {}): KeyRow {
  return {
    id: KEY,
    accountId: ACCOUNT,
    memberId: undefined,
    status: 'enabled',
    expiresAt: undefined,
    policy: undefined,
    ...changes,
  }
}

export function exampleMember(changes: Partial<MemberRow> = {}): MemberRow {
  return {
    id: MEMBER,
    organisationId: ACCOUNT,
    status: 'active',
    personStatus: 'active',
    monthlyCap: ZERO,
    monthStart: 0,
    monthSpent: ZERO,
    monthHeld: ZERO,
    policy: UNLIMITED,
    ...changes,
  }
}

export function exampleAccount(changes: Partial<AccountRow> = {}): AccountRow {
  return {
    id: ACCOUNT,
    status: 'active',
    verification: 1,
    userRate: '100',
    credits: credits(1000),
    held: ZERO,
    balance: ZERO,
    owed: ZERO,
    apiDeduction: true,
    monthlyCap: ZERO,
    monthStart: 0,
    monthSpent: ZERO,
    monthHeld: ZERO,
    autoExchange: { enabled: false, belowCredits: ZERO, step: ZERO },
    subscription: undefined,
    policy: UNLIMITED,
    byokVendors: [],
    ...changes,
  }
}

/** Costs 11 Credits in full: 1 000 tokens in, 1 000 out. */
export function exampleDemand(changes: Partial<Demand> = {}): Demand {
  return {
    modelId: MODEL,
    requiredVerification: 0,
    requiredPlan: 0,
    subscriptionCovered: true,
    vendors: [VENDOR],
    terms: TERMS_TEXT,
    estimate: {
      inputTokens: 1000,
      outputTokens: 1000,
      images: 0,
      videoSeconds: 0,
      bound: 'strict',
      worstInputTokens: 1000,
      worstOutputTokens: 1000,
    },
    ...changes,
  }
}

export function exampleReserve(id: string, changes: Partial<ReserveOperation> = {}): ReserveOperation {
  return {
    kind: 'reserve',
    callId: callId(id),
    instanceId: instanceId('instance_1'),
    at: 1_000_000,
    keyId: KEY,
    accountId: ACCOUNT,
    counts: { requests: 1, images: 0, videos: 0, videoSeconds: 0 },
    model: exampleDemand(),
    fallback: undefined,
    defaultPolicy: UNLIMITED,
    monthStart: 0,
    description: decodeDescription('{}', { callId: callId(id), startedAt: 1_000_000 }),
    ...changes,
  }
}

export function exampleLog(id: string, changes: Partial<CallLogRow> = {}): CallLogRow {
  return {
    ...EMPTY_LOG_ROW,
    callId: callId(id),
    requestId: id,
    createdAt: 1_000_000,
    endedAt: 1_000_000,
    endpoint: '/v1/chat/completions',
    clientProtocol: 'chat',
    upstreamProtocol: 'chat',
    modelRequested: MODEL,
    model: MODEL,
    vendorCode: VENDOR,
    chainId: CHAIN,
    keyId: KEY,
    accountId: ACCOUNT,
    httpStatus: 200,
    ending: 'complete',
    ...changes,
  }
}

export interface ExampleUse {
  readonly usage?: Partial<Usage>
  readonly images?: number
  readonly videoSeconds?: number
  readonly terms?: PriceTerms
  readonly userRate?: string
}

/** Settles what was used at the example's prices. */
export function exampleSettle(
  id: string,
  use: ExampleUse = {},
  changes: Partial<SettleOperation> = {},
): SettleOperation {
  const usage = { ...NO_USAGE, ...use.usage }
  const images = use.images ?? 0
  const used = { ...NOTHING_USED, usage, images, videoSeconds: use.videoSeconds ?? 0 }
  const { recipe, amount } = priceCall(used, {
    terms: use.terms ?? TERMS,
    chainId: CHAIN,
    userRate: use.userRate ?? '100',
  })
  return {
    kind: 'settle',
    callId: callId(id),
    keyId: KEY,
    accountId: ACCOUNT,
    at: 1_000_000,
    monthStart: 0,
    modelId: MODEL,
    byok: false,
    recipe,
    amount,
    used,
    log: exampleLog(id, { usage, images }),
    ...changes,
  }
}

export function exampleAbandon(id: string, changes: Partial<AbandonOperation> = {}): AbandonOperation {
  return {
    kind: 'abandon',
    callId: callId(id),
    keyId: KEY,
    accountId: ACCOUNT,
    at: 1_000_000,
    sent: false,
    log: exampleLog(id, { httpStatus: 502 }),
    ...changes,
  }
}

/** Rows that can be gone through, too. */
type RowMaps = {
  readonly [Name in keyof HotRows]: HotRows[Name] extends Rows<infer Id, infer Row>
    ? ReadonlyMap<Id, Row>
    : never
}

/** A store in memory: runs batches one after the other and keeps their changes. */
export interface ExampleStore {
  run(...operations: readonly HotOperation[]): readonly HotOutcome[]
  account(): AccountRow
  member(): MemberRow
  rows(): RowMaps
  readonly transfers: Transfer[]
  /** The current rows: a corrected row has replaced the first one. */
  readonly logs: CallLogRow[]
  put(row: { readonly account: AccountRow } | { readonly key: KeyRow } | { readonly member: MemberRow }): void
}

/** With a member, the example key belongs to that member. */
export function exampleStore(
  start: { account?: AccountRow; key?: KeyRow; member?: MemberRow } = {},
): ExampleStore {
  const account = start.account ?? exampleAccount()
  const { member } = start
  const key = start.key ?? exampleKey({ memberId: member?.id })
  const keys = new Map([[key.id, key]])
  const accounts = new Map([[account.id, account]])
  const members = new Map<MemberId, MemberRow>(member === undefined ? [] : [[member.id, member]])
  const limitStates = new Map<Subject, LimitState>()
  const openCalls = new Map<OpenCall['callId'], OpenCall>()
  const rows: RowMaps = { keys, members, accounts, limitStates, openCalls }
  const transfers: Transfer[] = []
  const logs: CallLogRow[] = []
  const keep = ({ changes }: BatchDecision) => {
    for (const row of changes.accounts) accounts.set(row.id, row)
    for (const row of changes.members) members.set(row.id, row)
    for (const row of changes.limitStates) limitStates.set(row.subject, row)
    for (const row of changes.openCallsPut) openCalls.set(row.callId, row)
    for (const id of changes.openCallsClosed) openCalls.delete(id)
    transfers.push(...changes.transfers)
    logs.push(...changes.logs)
    for (const row of changes.logsCorrected)
      logs.splice(
        logs.findIndex(({ callId: id }) => id === row.callId),
        1,
        row,
      )
  }
  return {
    run: (...operations) => {
      const decision = decideBatch(rows, operations)
      keep(decision)
      return decision.outcomes
    },
    account: () => {
      const row = accounts.get(account.id)
      if (row === undefined) throw new Error('the example account is gone')
      return row
    },
    member: () => {
      const row = member && members.get(member.id)
      if (row === undefined) throw new Error('the example store has no member')
      return row
    },
    rows: () => rows,
    transfers,
    logs,
    put: (row) => {
      if ('account' in row) accounts.set(row.account.id, row.account)
      else if ('member' in row) members.set(row.member.id, row.member)
      else keys.set(row.key.id, row.key)
    },
  }
}
