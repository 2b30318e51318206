import { GatewayError } from '../../core/errors/gateway-error.ts'
import { usableChains } from '../../core/routing/order.ts'
import type { AdmittedCall } from '../call.ts'
import { answersInBackground } from '../attempt/dialect.ts'

/**
 * A background answer is made after its call was answered: only an upstream that can be asked about it later is asked for
 * one, so that it is never free. Throws 40000 naming the field, before anything is spent.
 */
export function checkBackground(
  call: Pick<AdmittedCall, 'scan' | 'stream' | 'past' | 'model' | 'catalogue'>,
): void {
  const { scan, model, catalogue } = call
  if (!scan.background) return
  if (scan.forget)
    throw refusal('store', 'a background response has to be stored: leave store out or set it to true')
  if (call.stream)
    throw refusal(
      'stream',
      'background responses are not streamed here: create one without stream and poll it',
    )
  if (!usableChains(model, catalogue).some((chain) => answersInBackground(chain, catalogue)))
    throw refusal(
      'background',
      `no provider of ${model.modelId} answers in the background: leave background out or set it to false`,
    )
  if (call.past?.kind === 'kept')
    throw refusal(
      'previous_response_id',
      'the previous response is kept here, where no provider that answers in the background finds it; send its items',
    )
}

function refusal(param: string, message: string): GatewayError {
  return new GatewayError(40000, { message: `${param}: ${message}`, details: { param } })
}
