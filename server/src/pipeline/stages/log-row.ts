/** The log row of a call: what its stage knows, and what is known about its end. */
import { explainedMessage, type GatewayError } from '../../core/errors/gateway-error.ts'
import { type CallLogRow, EMPTY_LOG_ROW } from '../../core/ledger/log-row.ts'
import type { LoggedCall } from '../call.ts'
/**
 * A log row with everything that this stage of the call knows, and its end; other columns keep their empty values. Filled
 * in place: spreading one large object into another costs more than everything else about a row.
 */
export function baseLogRow(
  call: LoggedCall,
  endedAt: number,
  ...end: readonly Partial<CallLogRow>[]
): CallLogRow {
  const row: CallLogRow = {
    callId: call.callId,
    requestId: call.requestId,
    createdAt: call.at,
    endedAt,
    endpoint: call.endpoint.path,
    clientProtocol: call.endpoint.protocol,
    ...EMPTY_LOG_ROW,
    modelRequested: bounded(call.modelId ?? call.endpoint.pathModel),
    keyId: call.key?.id,
    accountId: call.account?.id,
    stream: call.stream ?? false,
    user: call.user,
    appId: appIdOf(call),
    customId: customIdOf(call),
    durationMs: endedAt - call.at,
  }
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
