import { createMeter, type Meter } from '../core/metering/meter.ts'
import type { ReservedCall } from './call.ts'
import type { Gateway } from './gateway.ts'

/** A meter that remembers whether the upstream left the input count to us. */
export class CallMeter {
  readonly meter: Meter
  /** The input figure is the quick estimate of the hold; the settling counts it properly. */
  inputEstimated = false

  constructor(gateway: Pick<Gateway, 'tokens'>, call: Pick<ReservedCall, 'demand'>) {
    const { inputTokens } = call.demand.estimate
    this.meter = createMeter({
      countTokens: (text) => gateway.tokens.count(text),
      countInput: () => {
        this.inputEstimated = true
        return inputTokens
      },
      inputTokensEstimate: inputTokens,
    })
  }
}
