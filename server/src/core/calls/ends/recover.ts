import { NO_USAGE } from '../../canonical/usage.ts'
import { madeIn, piecesIn, type Used } from '../../metering/quantities.ts'
import { priceCall } from '../../pricing/price.ts'
import { readTerms } from '../../pricing/read-terms.ts'
import type { PriceTerms } from '../../pricing/terms.ts'
import type { CallDescription } from '../../ledger/call-description.ts'
import type { CallProgress, OpenCall } from '../../ledger/hot-rows.ts'
import { type CallLogRow, EMPTY_LOG_ROW } from '../../ledger/log-row.ts'
import type { AbandonOperation, SettleOperation } from '../../ledger/operations.ts'

/**
 * How a call of a dead process ends: settled at its last known usage, or abandoned if nothing was produced.
 *
 * @param monthStart month in which a charge counts, epoch ms; absent: the one the account stands in
 */
export function decideRecovery(
  call: OpenCall,
  at: number,
  monthStart = 0,
): SettleOperation | AbandonOperation {
  const { description, progress } = call
  const terms = readTerms(progress === undefined ? call.terms : termsOf(call, progress))
  // The reservation read the same terms, so unreadable ones mean a damaged row, which must not block the recovery of others.
  if (progress === undefined || terms.kind === 'unreadable' || !hasProduced(call, progress)) {
    const { callId, keyId, accountId } = call
    return {
      kind: 'abandon',
      callId,
      keyId,
      accountId,
      at,
      monthStart,
      // Unknown; almost every reserved call was sent in the same millisecond.
      sent: true,
      recovery: true,
      log: describedRow(call, description, undefined),
    }
  }
  return settleRecovered(call, { progress, terms: terms.terms, at, monthStart })
}

function termsOf(call: OpenCall, progress: CallProgress): string {
  const isFallback = progress.modelId === call.fallbackModelId && progress.modelId !== call.modelId
  return (isFallback ? call.fallbackTerms : undefined) ?? call.terms
}

/**
 * A video task is produced as soon as the vendor has it: its seconds are declared, not counted
 * (docs/reference/contract.md#8-25).
 */
function hasProduced(call: OpenCall, progress: CallProgress): boolean {
  const { input, cachedInput, cacheWrite, cacheWrite1h, output } = progress.usage
  const declared = progress.usageSource === 'declared' && call.counts.videos > 0
  const tokens = [input, cachedInput, cacheWrite, cacheWrite1h, output]
  return declared || progress.images > 0 || tokens.some((count) => count !== undefined && count > 0)
}

function settleRecovered(
  call: OpenCall,
  known: {
    readonly progress: CallProgress
    readonly terms: PriceTerms
    readonly at: number
    readonly monthStart: number
  },
): SettleOperation {
  const { progress, at, monthStart } = known
  const { requests = call.counts.requests } = call.description
  const used: Used = {
    ...piecesIn({ ...call.description, requests }),
    ...madeIn(progress),
    videoSeconds: progress.usageSource === 'declared' ? call.counts.videoSeconds : 0,
  }
  const { characters, audioSeconds } = used
  const { chainId } = progress
  const { recipe, amount } = priceCall(used, { terms: known.terms, chainId, userRate: call.userRate })
  return {
    kind: 'settle',
    callId: call.callId,
    keyId: call.keyId,
    accountId: call.accountId,
    at,
    monthStart,
    modelId: progress.modelId,
    credentialId: progress.credentialId,
    byok: progress.byok,
    recipe,
    amount,
    used,
    log: { ...describedRow(call, call.description, progress), characters, audioSeconds, amount, recipe },
    recovery: true,
  }
}

/**
 * The log row of a call that is not ended by its own process: from its description and its last progress. An answer
 * that had begun has status 200; of any other it is only known that it did not finish.
 */
export function describedRow(
  call: Pick<OpenCall, 'callId' | 'keyId' | 'accountId' | 'touchedAt'>,
  description: CallDescription,
  progress: CallProgress | undefined,
): CallLogRow {
  const chain = progress && description.chains?.[String(progress.chainId)]
  // A video's row is written before its client gets an answer.
  const begun = progress !== undefined && progress.usageSource !== 'declared'
  return {
    ...EMPTY_LOG_ROW,
    callId: call.callId,
    requestId: description.requestId,
    createdAt: description.createdAt,
    endedAt: call.touchedAt,
    endpoint: description.endpoint,
    clientProtocol: description.clientProtocol,
    upstreamProtocol: chain?.upstreamProtocol,
    modelRequested: description.modelRequested,
    model: progress?.modelId,
    vendorCode: chain?.vendorCode,
    chainId: progress?.chainId,
    keyId: call.keyId,
    accountId: call.accountId,
    stream: description.stream,
    httpStatus: begun ? 200 : 500,
    code: begun ? undefined : 50000,
    user: description.user,
    appId: description.appId,
    customId: description.customId,
    usage: progress?.usage ?? NO_USAGE,
    usageSource: progress?.usageSource,
    secondsDeclared: description.secondsDeclared,
    images: progress?.images ?? 0,
    byok: progress?.byok ?? false,
    durationMs: Math.max(0, call.touchedAt - description.createdAt),
    ending: 'recovered',
    recovered: true,
  }
}
