import { createMeter, type Meter } from '../../core/metering/meter.ts'
import type { ReservedCall } from '../call.ts'
import type { Pipeline } from '../context.ts'

/** A meter that records whether the gateway has to count the input itself. */
export class CallMeter {
  readonly meter: Meter
  /** The input figure is the quick estimate of the hold; settlement counts it exactly. */
  inputEstimated = false

  constructor(
    pipeline: Pick<Pipeline, 'tokens' | 'telemetry'>,
    call: Pick<ReservedCall, 'demand' | 'requestId' | 'endpoint' | 'scan'>,
  ) {
    const { inputTokens, outputTokens } = call.demand.estimate
    const { form } = call.endpoint.kind
    this.meter = createMeter({
      countTokens: (text) => countTokens(pipeline, call, text),
      countInput: () => {
        // Of a form's files there is nothing to count.
        this.inputEstimated = call.scan.form === undefined
        return inputTokens
      },
      inputTokensEstimate: inputTokens,
      tokensPerImage: form?.tokensPerImage ?? 0,
      imagesMax: form?.imagesMax ?? Number.POSITIVE_INFINITY,
      unreportedOutput: form?.answersInBytes === undefined ? 0 : outputTokens,
    })
  }
}

const CHARACTERS_PER_TOKEN = 4

/** A failing token count does not fail the answer: its length is used instead. */
function countTokens(
  { tokens, telemetry }: Pick<Pipeline, 'tokens' | 'telemetry'>,
  { requestId }: Pick<ReservedCall, 'requestId'>,
  text: string,
): number {
  try {
    return tokens.count(text)
  } catch (error) {
    telemetry.log.error({ requestId, error }, 'tokens could not be counted; they are estimated by length')
    return Math.ceil(text.length / CHARACTERS_PER_TOKEN)
  }
}
