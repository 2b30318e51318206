/** The log row of a call: what its stage knows, and what is known about its end. */
import { explainedMessage, type GatewayError } from '../../core/errors/gateway-error.ts'
import { type CallLogRow, NO_CALL } from '../../core/ledger/log-row.ts'
import type { LoggedCall } from '../call.ts'

type Filled = { -readonly [Column in keyof CallLogRow]: CallLogRow[Column] }

/**
 * A log row with everything that this stage of the call knows, and its end; other columns keep their empty values. A
 * copy of an empty one, filled in place: a spread beside other properties takes nine times as long.
 */
export function baseLogRow(
  call: LoggedCall,
  endedAt: number,
  ...end: readonly Partial<CallLogRow>[]
): CallLogRow {
  const row: Filled = { ...NO_CALL }
  row.callId = call.callId
  row.requestId = call.requestId
  row.createdAt = call.at
  row.endedAt = endedAt
  row.endpoint = call.endpoint.path
  row.clientProtocol = call.endpoint.protocol
  row.modelRequested = bounded(call.modelId ?? call.endpoint.pathModel)
  row.keyId = call.key?.id
  row.accountId = call.account?.id
  row.stream = call.stream ?? false
  row.user = call.user
  row.appId = appIdOf(call)
  row.customId = customIdOf(call)
  row.durationMs = endedAt - call.at
  for (const part of end) Object.assign(row, part)
  return row
}

/** Texts of the client are shortened: a log is not a place to store data. */
const LOGGED_TEXT_MAX = 256

/** `Gw-App-Id`, else the product the User-Agent names first (docs/reference/contract.md#1-68). */
export function appIdOf(call: Pick<LoggedCall, 'headers'>): string | undefined {
  const named = call.headers['gw-app-id']
  if (named !== undefined && named !== '') return bounded(named)
  const [product] = (call.headers['user-agent'] ?? '').trim().split(/[\s/(;,]/, 1)
  return product === undefined || product === '' ? undefined : bounded(product)
}

export function customIdOf(call: Pick<LoggedCall, 'headers'>): string | undefined {
  return bounded(call.headers['gw-custom-id'])
}

/** Code and message of the gateway's own error, as stored in a row. */
export function codeAndMessage(error: GatewayError): Pick<CallLogRow, 'code' | 'message'> {
  return { code: error.code, message: bounded(explainedMessage(error)) }
}

function bounded(text: string | undefined): string | undefined {
  return text === undefined || text.length <= LOGGED_TEXT_MAX ? text : text.slice(0, LOGGED_TEXT_MAX)
}
