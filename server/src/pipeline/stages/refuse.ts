import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { ModelId } from '../../core/ids.ts'
import { StorageUnavailable } from '../../storage/failures/unavailable.ts'
import { quietly } from '../../telemetry/background.ts'
import { AddressNotAllowed, findHolderNow } from './authenticate.ts'
import type { RefusedCall } from '../call.ts'
import type { Pipeline } from '../context.ts'
import { asGatewayError } from '../exchange/leave.ts'
import { baseLogRow, codeAndMessage } from './log-row.ts'
import type { ClientReply } from '../reply.ts'

export type RefuseParts = Pick<
  Pipeline,
  'directory' | 'mayLogRefusal' | 'now' | 'observeEnd' | 'pending' | 'storage' | 'telemetry'
>

/** A call that was not admitted: answered at once, logged, and not charged. */
export async function refuse(
  pipeline: RefuseParts,
  call: RefusedCall,
  error: unknown,
  reply: ClientReply,
): Promise<void> {
  call.body?.release()
  const cause = await beforehand(pipeline, call, error)
  const refusal = refusalOf(pipeline, call, cause)
  if (cause instanceof AddressNotAllowed)
    pipeline.telemetry.security.note('key.address-refused', { ...cause.about, request: call.requestId })
  const model = shownModel(call)
  if (model !== undefined) reply.setModel(model)
  if (!reply.gone) reply.fail(refusal, call)
  const at = pipeline.now()
  const log = {
    ...baseLogRow(call, at),
    httpStatus: reply.gone ? 499 : refusal.status,
    ...codeAndMessage(refusal),
    clientGone: reply.gone,
  }
  quietly(pipeline, call, 'count an ended call', () => pipeline.observeEnd(log))
  if (mayBeReserved(call, error)) {
    const { callId, key, account } = call
    pipeline.pending.add({
      kind: 'lost-reservation',
      callId,
      keyId: key.id,
      accountId: account.id,
      at,
      sent: false,
      log,
    })
    return
  }
  if (!pipeline.mayLogRefusal(call, at)) return
  try {
    await pipeline.storage.calls.log({ log })
  } catch (cause) {
    pipeline.telemetry.log.warn(
      { requestId: call.requestId, error: cause },
      'a refused call could not be logged',
    )
  }
}

/** What any key can see in the catalogue: a refusal must not reveal that a hidden model exists. */
function shownModel({ catalogue, modelId }: RefusedCall): ModelId | undefined {
  const model = modelId === undefined ? undefined : catalogue?.models.get(modelId)
  return model?.status === 'enabled' && model.clientVisible ? model.modelId : undefined
}

/** The store became unreachable during the reservation: it is unknown whether it reserved, or still will. */
function mayBeReserved(
  call: RefusedCall,
  error: unknown,
): call is RefusedCall & Required<Pick<RefusedCall, 'key' | 'account'>> {
  const lost = error instanceof StorageUnavailable && !error.untouched && wasAdmitted(call)
  return lost && call.key !== undefined && call.account !== undefined
}

function wasAdmitted({ stage }: RefusedCall): boolean {
  return stage === 'admitted' || stage === 'reserved'
}

/**
 * Authentication takes precedence over every other refusal (docs/decisions/0005-routing-and-endings.md). A call refused
 * before its reservation was checked with a cached key only, so it is first checked whether that key was revoked.
 */
async function beforehand(
  pipeline: Pick<Pipeline, 'directory' | 'storage'>,
  call: RefusedCall,
  error: unknown,
): Promise<unknown> {
  if (call.key === undefined || wasAdmitted(call)) return error
  try {
    await findHolderNow(pipeline, call.key.hash, call.at)
    return error
  } catch (revoked) {
    return revoked
  }
}

function refusalOf(pipeline: Pick<Pipeline, 'telemetry'>, call: RefusedCall, error: unknown): GatewayError {
  if (error instanceof GatewayError) return error
  if (error instanceof StorageUnavailable) {
    pipeline.telemetry.log.error({ requestId: call.requestId, error }, 'the database cannot be reached')
    return new GatewayError(50301, { cause: error, retryAfterMs: 1_000 })
  }
  pipeline.telemetry.log.error({ requestId: call.requestId, error }, 'a call failed inside the gateway')
  return asGatewayError(error)
}
