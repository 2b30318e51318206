/** One call as the log keeps it (docs/reference/contract.md#1-66, #D-accounts-70). */
import {
  type AccountId,
  type CallId,
  type ChainId,
  callId,
  type KeyId,
  type ModelId,
  type VendorCode,
} from '../ids.ts'
import { type MicroCredits, ZERO } from '../money.ts'
import { NO_USAGE, type Usage } from '../canonical/usage.ts'
import type { Recipe, UsageSource } from './recipe.ts'
import type { UsageSuspect } from '../metering/possible-usage.ts'

export interface CallLogRow {
  readonly callId: CallId
  readonly requestId: string
  /** Epoch ms. */
  readonly createdAt: number
  readonly endedAt: number
  /** Path called, as the contract writes it. */
  readonly endpoint: string
  readonly clientProtocol: string
  readonly upstreamProtocol: string | undefined
  readonly modelRequested: string | undefined
  readonly model: ModelId | undefined
  readonly vendorCode: VendorCode | undefined
  readonly chainId: ChainId | undefined
  readonly keyId: KeyId | undefined
  readonly accountId: AccountId | undefined
  readonly stream: boolean
  readonly httpStatus: number
  /** Gateway code of the error, if the gateway made one. */
  readonly code: number | undefined
  /** The message sent with `code`, shortened. Also undefined in rows of older releases. */
  readonly message: string | undefined
  readonly user: string | undefined
  readonly appId: string | undefined
  readonly customId: string | undefined
  readonly usage: Usage
  readonly usageSource: UsageSource | undefined
  /** The upstream reported impossible usage, and the highest possible value was charged. */
  readonly usageSuspect: UsageSuspect | undefined
  readonly secondsDeclared: number | undefined
  readonly secondsProduced: number | undefined
  readonly images: number
  /** Unicode code points turned into speech. */
  readonly characters: number
  /** Seconds of transcribed sound, in hundredths. */
  readonly audioSeconds: number
  /** µCr by the formula, exact. */
  readonly amount: MicroCredits
  /** µCr the call takes from Credits or quota, what it owes included. */
  readonly deducted: MicroCredits
  /**
   * µCr of `deducted` that exceeded the account's monthly cap when the call was settled, and were owed from then on.
   */
  readonly owed: MicroCredits
  readonly recipe: Recipe | undefined
  readonly subscriptionCovered: boolean
  readonly byok: boolean
  /** Part of the charge exceeded the monthly cap: see `owed`. In rows of older releases that part was waived. */
  readonly capped: boolean
  readonly droppedFields: readonly string[]
  readonly attempts: readonly AttemptRecord[]
  readonly firstByteMs: number | undefined
  readonly durationMs: number
  readonly clientGone: boolean
  /** How the exchange ended, in the gateway's words. */
  readonly ending:
    | 'complete'
    | 'refused'
    | 'upstream-error'
    | 'upstream-cut'
    | 'client-gone'
    | 'timeout'
    /** The gateway was shutting down. */
    | 'stopped'
    /** Something inside the gateway failed; charged by what was known. */
    | 'gateway-error'
    | 'recovered'
  /** The call was ended by recovery first; an ending other than `recovered` is what its own instance reported later. */
  readonly recovered: boolean
}

/** The row of a call about which nothing is known yet. */
export const EMPTY_LOG_ROW = {
  upstreamProtocol: undefined,
  modelRequested: undefined,
  model: undefined,
  vendorCode: undefined,
  chainId: undefined,
  keyId: undefined,
  accountId: undefined,
  stream: false,
  httpStatus: 0,
  code: undefined,
  message: undefined,
  user: undefined,
  appId: undefined,
  customId: undefined,
  usage: NO_USAGE,
  usageSource: undefined,
  usageSuspect: undefined,
  secondsDeclared: undefined,
  secondsProduced: undefined,
  images: 0,
  characters: 0,
  audioSeconds: 0,
  amount: ZERO,
  deducted: ZERO,
  owed: ZERO,
  recipe: undefined,
  subscriptionCovered: false,
  byok: false,
  capped: false,
  droppedFields: [],
  attempts: [],
  firstByteMs: undefined,
  durationMs: 0,
  clientGone: false,
  ending: 'refused',
  recovered: false,
} as const satisfies Partial<CallLogRow>

/** A whole row, of no call. */
export const NO_CALL: CallLogRow = {
  callId: callId('none'),
  requestId: '',
  createdAt: 0,
  endedAt: 0,
  endpoint: '',
  clientProtocol: '',
  ...EMPTY_LOG_ROW,
}

/** One attempt: its chain, why it was chosen, and its result. */
export interface AttemptRecord {
  readonly chainId: ChainId
  readonly vendorCode: VendorCode
  readonly modelId: ModelId
  readonly why: 'priority' | 'weight' | 'failover' | 'fallback' | 'retry' | 'pinned'
  /** Chains that were skipped before this one, and why. */
  readonly skipped: readonly { readonly chainId: ChainId; readonly reason: string }[]
  readonly outcome: string
  readonly status: number | undefined
  /** Why it failed, in the vendor's own words, shortened and without the credential; for operators. */
  readonly said?: string
  /** ms from the start of the call. */
  readonly startedMs: number
  readonly firstByteMs: number | undefined
  readonly endedMs: number
  readonly cooldownMs: number | undefined
}
