/** Call logs: what can be filtered by has a column, the rest is one JSON text, so that a row needs one short insert. */
import { type CallLogRow, EMPTY_LOG_ROW } from '../../../core/ledger/log-row.ts'
import { NO_USAGE, type Usage } from '../../../core/canonical/usage.ts'
import { accountId, callId, keyId } from '../../../core/ids.ts'
import { microCredits, ZERO } from '../../../core/money.ts'
import { indexableText } from '../free-text.ts'
import { parseStored } from '../stored-json.ts'
import { integerOf, numberOf, optionalTextOf, type StoredRow, type Table, textOf } from '../table.ts'
import { readRecipe, type StoredRecipe } from '../../../core/ledger/recipe.ts'

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

/** As JSON keeps it: `undefined` is absent, and usage holds only the counters that were reported. */
type Detail = SaidAlike & {
  readonly usage: Partial<Usage>
  readonly recipe: StoredRecipe | undefined
  /** Decimal text; absent: nothing. */
  readonly owed?: string | undefined
  readonly recovered?: true | undefined
  /** Absent: none. */
  readonly characters?: number | undefined
  readonly audioSeconds?: number | undefined
}

/** The fields of the text in the form of the row. */
type SaidAlike = Omit<
  CallLogRow,
  Column | 'usage' | 'recipe' | 'owed' | 'recovered' | 'characters' | 'audioSeconds'
>

type Column = keyof ReturnType<typeof columnsOf>

/** The fields with columns of their own, and those that every row sets in addition to `EMPTY_LOG_ROW`. */
const IN_COLUMNS: { readonly [Name in Column]: undefined } = {
  callId: undefined,
  requestId: undefined,
  createdAt: undefined,
  endedAt: undefined,
  accountId: undefined,
  keyId: undefined,
  httpStatus: undefined,
  appId: undefined,
  customId: undefined,
  user: undefined,
  amount: undefined,
  deducted: undefined,
}
const NO_DETAIL: Record<keyof CallLogRow, unknown> = {
  endpoint: undefined,
  clientProtocol: undefined,
  ...EMPTY_LOG_ROW,
  ...IN_COLUMNS,
}

/**
 * Field by field: a loop over their names costs V8 ten times as much. What is as in `EMPTY_LOG_ROW` is absent: with all
 * of it, the row of a usual call is longer than half a page of SQLite, so that each takes a whole one.
 */
function encodeDetail(log: CallLogRow): string {
  const detail: Readonly<Record<Exclude<keyof CallLogRow, Column>, unknown>> = {
    endpoint: log.endpoint,
    clientProtocol: log.clientProtocol,
    upstreamProtocol: log.upstreamProtocol,
    modelRequested: indexableText(log.modelRequested) ?? undefined,
    model: log.model,
    vendorCode: log.vendorCode,
    chainId: log.chainId,
    stream: log.stream || undefined,
    code: log.code,
    message: log.message,
    usage: log.usage,
    usageSource: log.usageSource,
    usageSuspect: log.usageSuspect,
    secondsDeclared: log.secondsDeclared,
    secondsProduced: log.secondsProduced,
    images: log.images === 0 ? undefined : log.images,
    characters: log.characters === 0 ? undefined : log.characters,
    audioSeconds: log.audioSeconds === 0 ? undefined : log.audioSeconds,
    owed: log.owed === ZERO ? undefined : log.owed.toString(),
    recipe: log.recipe,
    subscriptionCovered: log.subscriptionCovered || undefined,
    byok: log.byok || undefined,
    capped: log.capped || undefined,
    droppedFields: log.droppedFields.length === 0 ? undefined : log.droppedFields,
    attempts: log.attempts,
    firstByteMs: log.firstByteMs,
    durationMs: log.durationMs,
    clientGone: log.clientGone || undefined,
    ending: log.ending,
    recovered: log.recovered || undefined,
  }
  return JSON.stringify(detail)
}

/**
 * Into an object that has every field: what an object literal spreads first determines how V8 stores the rest.
 */
export function decodeCallLog(row: StoredRow): CallLogRow {
  const detail = parseStored<Detail>(textOf(row, 'detail'))
  const said: SaidAlike = detail
  const { owed, recipe } = detail
  const read: Omit<CallLogRow, keyof SaidAlike> = {
    usage: Object.assign({ ...NO_USAGE }, detail.usage),
    characters: detail.characters ?? 0,
    audioSeconds: detail.audioSeconds ?? 0,
    owed: owed === undefined ? ZERO : microCredits(BigInt(owed)),
    recipe: recipe && readRecipe(recipe),
    recovered: detail.recovered ?? detail.ending === 'recovered',
    ...columnsOf(row),
  }
  return Object.assign({ ...NO_DETAIL }, said, read)
}

function columnsOf(row: StoredRow) {
  const account = optionalTextOf(row, 'account_id')
  const key = optionalTextOf(row, 'key_id')
  return {
    callId: callId(textOf(row, 'call_id')),
    requestId: textOf(row, 'request_id'),
    createdAt: numberOf(row, 'created_at'),
    endedAt: numberOf(row, 'ended_at'),
    accountId: account === undefined ? undefined : accountId(account),
    keyId: key === undefined ? undefined : keyId(key),
    httpStatus: numberOf(row, 'http_status'),
    appId: optionalTextOf(row, 'app_id'),
    customId: optionalTextOf(row, 'custom_id'),
    user: optionalTextOf(row, 'end_user'),
    amount: microCredits(integerOf(row, 'amount')),
    deducted: microCredits(integerOf(row, 'deducted')),
  }
}
