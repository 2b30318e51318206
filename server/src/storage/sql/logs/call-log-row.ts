/** Call logs: what is filtered by has a column, the rest is one JSON text, so that a row costs one short insert. */
import type { CallLogRow } from '../../../core/calls/log-row.ts'
import { NO_USAGE, type Usage } from '../../../core/canonical/usage.ts'
import { accountId, callId, keyId } from '../../../core/ids.ts'
import { microCredits, ZERO } from '../../../core/money.ts'
import { indexableText } from '../free-text.ts'
import { parseStored } from '../stored-json.ts'
import { integerOf, numberOf, optionalTextOf, type StoredRow, type Table, textOf } from '../table.ts'
import { readRecipe, type StoredRecipe } from '../../../core/calls/recipe.ts'

export const callLogs: Table<CallLogRow> = {
  name: 'call_logs',
  columns: {
    call_id: 'text',
    request_id: 'text',
    created_at: 'integer',
    ended_at: 'integer',
    account_id: 'text',
    key_id: 'text',
    model: 'text',
    http_status: 'integer',
    app_id: 'text',
    custom_id: 'text',
    end_user: 'text',
    amount: 'integer',
    deducted: 'integer',
    detail: 'text',
  },
  encode: (log) => [
    log.callId,
    indexableText(log.requestId),
    log.createdAt,
    log.endedAt,
    log.accountId ?? null,
    log.keyId ?? null,
    indexableText(log.model ?? log.modelRequested),
    log.httpStatus,
    indexableText(log.appId),
    indexableText(log.customId),
    indexableText(log.user),
    log.amount,
    log.deducted,
    encodeDetail(log),
  ],
}

type Column =
  | 'callId'
  | 'requestId'
  | 'createdAt'
  | 'endedAt'
  | 'accountId'
  | 'keyId'
  | 'httpStatus'
  | 'appId'
  | 'customId'
  | 'user'
  | 'amount'
  | 'deducted'

/** As JSON keeps it: `undefined` is absent, and usage holds only the counters that were reported. */
type Detail = Omit<CallLogRow, Column | 'usage' | 'recipe' | 'owed' | 'recovered'> & {
  readonly usage: Partial<Usage>
  readonly recipe: StoredRecipe | undefined
  /** Decimal text; absent: nothing. */
  readonly owed?: string | undefined
  readonly recovered?: true | undefined
}

function encodeDetail(log: CallLogRow): string {
  const detail: Detail = {
    endpoint: log.endpoint,
    clientProtocol: log.clientProtocol,
    upstreamProtocol: log.upstreamProtocol,
    modelRequested: log.modelRequested === undefined ? undefined : indexableText(log.modelRequested),
    model: log.model,
    vendorCode: log.vendorCode,
    chainId: log.chainId,
    stream: log.stream,
    code: log.code,
    usage: log.usage,
    usageSource: log.usageSource,
    usageSuspect: log.usageSuspect,
    secondsDeclared: log.secondsDeclared,
    secondsProduced: log.secondsProduced,
    images: log.images,
    recipe: log.recipe,
    subscriptionCovered: log.subscriptionCovered,
    byok: log.byok,
    capped: log.capped,
    owed: log.owed === ZERO ? undefined : log.owed.toString(),
    droppedFields: log.droppedFields,
    attempts: log.attempts,
    firstByteMs: log.firstByteMs,
    durationMs: log.durationMs,
    clientGone: log.clientGone,
    ending: log.ending,
    recovered: log.recovered || undefined,
  }
  return JSON.stringify(detail)
}

export function decodeCallLog(row: StoredRow): CallLogRow {
  const detail = parseStored<Detail>(textOf(row, 'detail'))
  const account = optionalTextOf(row, 'account_id')
  const key = optionalTextOf(row, 'key_id')
  return {
    callId: callId(textOf(row, 'call_id')),
    requestId: textOf(row, 'request_id'),
    createdAt: numberOf(row, 'created_at'),
    endedAt: numberOf(row, 'ended_at'),
    endpoint: detail.endpoint,
    clientProtocol: detail.clientProtocol,
    upstreamProtocol: detail.upstreamProtocol,
    modelRequested: detail.modelRequested,
    model: detail.model,
    vendorCode: detail.vendorCode,
    chainId: detail.chainId,
    keyId: key === undefined ? undefined : keyId(key),
    accountId: account === undefined ? undefined : accountId(account),
    stream: detail.stream,
    httpStatus: numberOf(row, 'http_status'),
    code: detail.code,
    user: optionalTextOf(row, 'end_user'),
    appId: optionalTextOf(row, 'app_id'),
    customId: optionalTextOf(row, 'custom_id'),
    usage: { ...NO_USAGE, ...detail.usage },
    usageSource: detail.usageSource,
    usageSuspect: detail.usageSuspect,
    secondsDeclared: detail.secondsDeclared,
    secondsProduced: detail.secondsProduced,
    images: detail.images,
    amount: microCredits(integerOf(row, 'amount')),
    deducted: microCredits(integerOf(row, 'deducted')),
    owed: detail.owed === undefined ? ZERO : microCredits(BigInt(detail.owed)),
    recipe: detail.recipe && readRecipe(detail.recipe),
    subscriptionCovered: detail.subscriptionCovered,
    byok: detail.byok,
    capped: detail.capped,
    droppedFields: detail.droppedFields,
    attempts: detail.attempts,
    firstByteMs: detail.firstByteMs,
    durationMs: detail.durationMs,
    clientGone: detail.clientGone,
    ending: detail.ending,
    recovered: detail.recovered ?? detail.ending === 'recovered',
  }
}
