import type { CallLogRow } from '../../core/ledger/log-row.ts'
import type { ErrorCode } from '../../core/errors/catalogue.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { retryAfterHeader } from '../../core/errors/retry-after.ts'
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import { retryHintMs } from '../../core/routing/failure.ts'
import type { ReservedCall } from '../call.ts'
import { parseJson } from '../attempt/classify.ts'
import { upstreamOf } from '../attempt/dialect.ts'
import { foreignError } from '../lanes/convert.ts'
import { codeAndMessage } from '../stages/log-row.ts'
import { headerOf } from './answer.ts'
import type { AttemptFailure } from './exchange-outcome.ts'
import type { ClientReply } from '../reply.ts'
import { isCredentialRefusal } from '../attempt/failures-compared.ts'
import type { Leg } from '../attempt/leg.ts'
import type { FinalFailure } from '../attempt/attempt-outcome.ts'

/** The answer to a call for which every chain failed. */
export interface FailureAnswer {
  readonly shown: Pick<CallLogRow, 'httpStatus' | 'code' | 'message'>
  readonly send: (reply: ClientReply) => void
}

/**
 * Why every chain failed, as its client sees it: the first real upstream error unchanged, with three exceptions that are
 * the gateway's own errors (docs/reference/contract.md#D-errors-37, #D-errors-38, #D-errors-39).
 */
export function answerFailure(call: ReservedCall, failure: FinalFailure): FailureAnswer {
  switch (failure.kind) {
    case 'no-chain':
      return failWith(call, new GatewayError(50201, { internal: 'no usable chain' }))
    case 'rate-limited':
      return failWith(call, new GatewayError(42904, { retryAfterMs: failure.retryAfterMs }))
    case 'unconvertible':
      return failWith(
        call,
        new GatewayError(40000, {
          message: failure.message,
          ...(failure.details === undefined ? {} : { details: failure.details }),
        }),
      )
    case 'upstream': {
      const { shown, send } = answerUpstream(call, failure)
      return {
        shown,
        send: (reply) => {
          reply.setModel(failure.leg.model.modelId)
          send(reply)
        },
      }
    }
  }
}

function answerUpstream(
  call: ReservedCall,
  { leg, failure }: { readonly leg: Leg; readonly failure: AttemptFailure },
): FailureAnswer {
  switch (failure.kind) {
    case 'deadline':
      return failWith(call, new GatewayError(50401))
    case 'transport': {
      const code: ErrorCode = failure.transport.kind.endsWith('timeout') ? 50401 : 50201
      return failWith(call, new GatewayError(code, { internal: failure.transport.detail }))
    }
    case 'status':
      return answerStatus(call, leg, failure)
    case 'answer':
      return answerError(call, leg, failure)
  }
}

function answerStatus(
  call: ReservedCall,
  leg: Leg,
  failure: Extract<AttemptFailure, { kind: 'status' }>,
): FailureAnswer {
  const body = parseJson(failure.body)
  if (isCredentialRefusal(failure.status) && !leg.byok) {
    return failWith(
      call,
      new GatewayError(50201, {
        upstreamBody: body ?? null,
        internal: 'the upstream refused our credential',
      }),
    )
  }
  const headers = {
    'content-type': headerOf(failure.headers, 'content-type') ?? 'application/json',
    ...retryAfterHeader(
      failure.status,
      retryHintMs({ status: failure.status, headers: failure.headers, body }),
    ),
  }
  if (isForeign(call, leg))
    return json(failure.status, headers, foreignError(call, leg, failure.status, body ?? text(failure.body)))
  if (overLimit(call, leg, failure.status, body)) {
    return json(failure.status, headers, {
      ...(isJsonObject(body) ? body : {}),
      upstream_body: body ?? text(failure.body),
    })
  }
  return bytes(failure.status, headers, failure.body)
}

/** An error event inside a 200, before anything was sent: it becomes an error answer of its own status. */
function answerError(
  call: ReservedCall,
  leg: Leg,
  failure: Extract<AttemptFailure, { kind: 'answer' }>,
): FailureAnswer {
  if (failure.answer.kind === 'cut')
    return failWith(call, new GatewayError(50201, { internal: 'the upstream broke off its answer' }))
  const status = failure.answer.status ?? 502
  const headers = { 'content-type': 'application/json', ...retryAfterHeader(status, undefined) }
  const raw = failure.answer.raw
  const body = isForeign(call, leg) ? foreignError(call, leg, status, raw) : raw
  return json(status, headers, body)
}

/** Its error is in another format than the client's. */
function isForeign(call: ReservedCall, leg: Leg): boolean {
  const { protocol } = call.endpoint
  const { dialect } = upstreamOf(leg, call.catalogue, call.endpoint)
  if (dialect.protocol !== protocol) return true
  return 'rewrite' in dialect && dialect.rewrite !== undefined
}

/**
 * If the upstream refused `max_tokens` as too large, the client gets that error, with the upstream's body also under
 * `upstream_body`. Recognised by numbers, not by message text: the client's cap is above the model's, or the error
 * names the field.
 */
function overLimit(call: ReservedCall, leg: Leg, status: number, body: JsonValue | undefined): boolean {
  const cap = call.scan.maxOutputTokens
  if (cap === undefined || (status !== 400 && status !== 422)) return false
  const known = leg.model.maxOutputTokens
  if (known !== undefined && cap > known) return true
  const error = isJsonObject(body) && isJsonObject(body['error']) ? body['error'] : undefined
  return typeof error?.['param'] === 'string' && CAP_FIELDS.has(error['param'])
}

const CAP_FIELDS: ReadonlySet<string> = new Set(['max_tokens', 'max_completion_tokens', 'max_output_tokens'])

function failWith(call: ReservedCall, error: GatewayError): FailureAnswer {
  return {
    shown: { httpStatus: error.status, ...codeAndMessage(error) },
    send: (reply) => reply.fail(error, call),
  }
}

function json(status: number, headers: Readonly<Record<string, string>>, body: JsonValue): FailureAnswer {
  return bytes(status, { ...headers, 'content-type': 'application/json' }, Buffer.from(JSON.stringify(body)))
}

function bytes(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array): FailureAnswer {
  return {
    shown: { httpStatus: status, code: undefined, message: undefined },
    send: (reply) => {
      reply.start({ status, headers: { ...headers }, contentLength: body.byteLength })
      reply.write(body)
      reply.end()
    },
  }
}

function text(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
}
