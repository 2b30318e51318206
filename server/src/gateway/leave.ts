/** The two doors of a reserved call: `settle` when something was generated, `abandon` when nothing was (design, path). */
import type { CallLogRow } from '../core/calls/log-row.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import type { MeterReading } from '../core/metering/meter.ts'
import { StorageUnavailable } from '../storage/unavailable.ts'
import type { Attempted, Leg } from './attempt.ts'
import type { ReservedCall } from './call.ts'
import { deliverFailure } from './deliver-failure.ts'
import type { Ending, Exchange } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import { baseLogRow } from './log-row.ts'
import { persist } from './persist.ts'
import { remember } from './remember.ts'
import type { ClientReply } from './reply.ts'
import { settle } from './settle.ts'

export async function leave(
  gateway: Gateway,
  call: ReservedCall,
  reply: ClientReply,
  attempted: Attempted,
): Promise<void> {
  switch (attempted.kind) {
    case 'answering':
      try {
        return await leaveAnswered(gateway, call, attempted)
      } finally {
        attempted.exchange.release()
      }
    case 'failed': {
      const told = deliverFailure(call, attempted.failure, reply)
      return abandon(gateway, call, { ...told, attempts: attempted.records, ending: 'upstream-error' })
    }
    case 'gone':
      return abandon(gateway, call, {
        httpStatus: 499,
        attempts: attempted.records,
        clientGone: true,
        ending: 'client-gone',
      })
    case 'broken': {
      const error = asGatewayError(attempted.error)
      gateway.telemetry.log.error(
        { requestId: call.requestId, error: attempted.error },
        'a call failed inside the gateway',
      )
      if (!reply.started) reply.fail(error, call)
      return abandon(gateway, call, {
        httpStatus: error.status,
        code: error.code,
        attempts: attempted.records,
        ending: 'upstream-error',
      })
    }
  }
}

async function leaveAnswered(
  gateway: Gateway,
  call: ReservedCall,
  { leg, exchange, records }: Extract<Attempted, { kind: 'answering' }>,
): Promise<void> {
  const ending = await exchange.ending
  const reading = exchange.readMeter()
  if (ending !== 'complete' && ending !== 'client-gone') {
    gateway.health.failed(leg.chain, { kind: 'cut' }, gateway.now())
  }
  if (ending === 'complete') remember(gateway, call, { leg, exchange })
  const row = answeredRow(gateway, call, { leg, exchange, ending, reading })
  if (reading === undefined || (ending !== 'complete' && !reading.produced)) {
    return abandon(gateway, call, { ...row, attempts: records })
  }
  return settle(gateway, call, {
    leg,
    reading,
    inputEstimated: exchange.inputEstimated,
    row: { ...row, attempts: records },
    onTried: () => exchange.release(),
  })
}

function answeredRow(
  gateway: Gateway,
  call: ReservedCall,
  answer: {
    readonly leg: Leg
    readonly exchange: Exchange
    readonly ending: Ending
    readonly reading: MeterReading | undefined
  },
): Partial<CallLogRow> {
  const { leg, exchange, ending } = answer
  const endedAt = gateway.now()
  return {
    endedAt,
    durationMs: endedAt - call.at,
    upstreamProtocol: leg.chain.protocol,
    model: leg.model.modelId,
    vendorCode: leg.chain.vendorCode,
    chainId: leg.chain.id,
    httpStatus: exchange.status,
    byok: leg.byok,
    droppedFields: exchange.dropped,
    firstByteMs: exchange.firstByteAt === undefined ? undefined : exchange.firstByteAt - call.at,
    clientGone: ending === 'client-gone',
    ending,
  }
}

/** Gives back what was taken and writes the log row. */
async function abandon(gateway: Gateway, call: ReservedCall, row: Partial<CallLogRow>): Promise<void> {
  call.body.release()
  const at = gateway.now()
  const log: CallLogRow = { ...baseLogRow(call, at), ...row }
  gateway.observeEnd(log)
  await persist(gateway, call.requestId, () =>
    gateway.storage.calls.abandon({
      callId: call.callId,
      keyId: call.key.id,
      accountId: call.account.id,
      at,
      log,
    }),
  )
}

export function asGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error
  if (error instanceof StorageUnavailable)
    return new GatewayError(50301, { cause: error, retryAfterMs: 1_000 })
  return new GatewayError(50000, { cause: error })
}
