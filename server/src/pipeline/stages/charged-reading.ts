import { NO_USAGE, type Usage } from '../../core/canonical/usage.ts'
import { OUTPUT_RATE_ASSUMED } from '../../core/metering/chain-observation.ts'
import { estimateOutput } from '../../core/metering/estimate-output.ts'
import type { MeterReading } from '../../core/metering/meter.ts'
import type { Ended } from '../exchange/exchange-outcome.ts'
import { NOTHING_MADE } from '../../core/metering/quantities.ts'
import { makesOutputTokens } from '../../core/catalogue.ts'
import { type PossibleUsage, ROUNDS_OF_TOOLS, boundUsage } from '../../core/metering/possible-usage.ts'
import { capabilitiesOf, isConvertible, upstreamOf } from '../attempt/dialect.ts'
import type { ReservedCall } from '../call.ts'
import type { Pipeline } from '../context.ts'
import type { Leg } from '../attempt/leg.ts'

export interface ChainRates {
  /** Output tokens a second as observed for this chain; undefined: never. */
  readonly observed: number | undefined
  /** The same, or the best estimate. */
  readonly expected: number
  /** The chain's model may reason without showing it. */
  readonly reasons: boolean
}

export interface HeldFor {
  readonly inputTokens: number
  readonly worstOutputTokens: number
  /** Number requested, for calls that make nothing else; 0: other calls. */
  readonly imagesAsked: number
  /** They arrive together, so all are in progress from the beginning. Absent: one after the other. */
  readonly imagesAtOnce?: boolean
  /** Output tokens of one image, if the vendor reports none. */
  readonly tokensPerImage?: number
  /** Output that the vendor did not report is already estimated in full by a rule, so the rate adds nothing. */
  readonly outputByRule?: boolean
}

/**
 * The usage that an ended answer is charged by; undefined: nothing was made that has to be paid for.
 *
 * - A whole answer: by the vendor's usage. Without one: the larger of what was visible and what the chain's rate yields
 *   for the time.
 * - One that the gateway cut (the client disconnected, the gateway is stopping): the same estimate; its input is always
 *   charged, since the vendor had begun to work, and so are the images in progress.
 * - One that the vendor broke: by what was visible, if anything was. The rest is the vendor's fault.
 */
export function chargedReading(
  ended: Pick<Ended, 'generation' | 'reading' | 'reportedOutput' | 'unreportedMs'>,
  held: HeldFor,
  ratesOf: () => ChainRates,
): MeterReading | undefined {
  const reading = ended.reading ?? nothingRead(held)
  switch (ended.generation) {
    case 'none':
      return undefined
    case 'broken':
      return reading.produced ? reading : undefined
    case 'whole': {
      if (coversAll(ended, reading) || held.outputByRule === true) return reading
      const rates = ratesOf()
      const rate = rates.observed ?? (rates.reasons ? rates.expected : undefined)
      if (rate === undefined) return reading
      return estimateOutput(reading, { rate, worstOutputTokens: held.worstOutputTokens, ...ended })
    }
    case 'cut':
      if (held.outputByRule === true) return reading
      return estimateOutput(withImagesUnderWay(reading, held, ended), {
        rate: ratesOf().expected,
        worstOutputTokens: held.worstOutputTokens,
        ...ended,
      })
  }
}

/** A vendor does not stop in the middle of its images: those in progress are completed, and billed. */
function withImagesUnderWay(
  reading: MeterReading,
  { imagesAsked, imagesAtOnce, tokensPerImage = 0 }: HeldFor,
  { reportedOutput }: Pick<Ended, 'reportedOutput'>,
): MeterReading {
  const begun = imagesAtOnce === true ? imagesAsked : Math.min(reading.images + 1, imagesAsked)
  const images = Math.max(reading.images, begun)
  const untold = reportedOutput === undefined ? (images - reading.images) * tokensPerImage : 0
  return { ...reading, images, usage: { ...reading.usage, output: (reading.usage.output ?? 0) + untold } }
}

/** The vendor's own counter covers all output. */
export function coversAll({ reportedOutput }: Pick<Ended, 'reportedOutput'>, reading: MeterReading): boolean {
  return reportedOutput !== undefined && reading.usage.output === reportedOutput
}

function nothingRead({ inputTokens }: HeldFor): MeterReading {
  return {
    ...NOTHING_MADE,
    usage: { ...NO_USAGE, input: inputTokens, output: 0 },
    source: 'estimated',
    produced: false,
  }
}

/** The part of a call's reported usage that is possible, by its model, its request and the bytes of its answer so far. */
export function possibleUsage(
  { scan, endpoint }: Pick<ReservedCall, 'scan' | 'endpoint'>,
  { leg, answerBytes }: { readonly leg: Pick<Leg, 'model'>; readonly answerBytes: number },
  reported: Usage,
): PossibleUsage {
  const { bodyBytes, items, repeatedBytes, candidates = 1, extras } = scan
  if (!makesOutputTokens(endpoint.protocol)) {
    // One request may hold many texts, each as long as a context: what was sent is the limit, if all of it was seen.
    const contextTokens = extras.unseenInput ? leg.model.contextTokens : 0
    return boundUsage(reported, {
      contextTokens,
      maxOutputTokens: 0,
      candidates: 1,
      requestBytes: bodyBytes + items * repeatedBytes,
      answerBytes: 0,
      rounds: 1,
    })
  }
  return boundUsage(reported, {
    contextTokens: leg.model.contextTokens,
    maxOutputTokens: leg.model.maxOutputTokens,
    candidates,
    requestBytes: bodyBytes,
    answerBytes,
    rounds: extras.toolUsesMax > 0 ? Math.max(extras.toolUsesMax, ROUNDS_OF_TOOLS) + 1 : 1,
  })
}

/** The same for a call over one of its chains; undefined: nothing was made that has to be paid for. */
export function readingOf(
  pipeline: Pick<Pipeline, 'observations' | 'telemetry'>,
  call: ReservedCall,
  { leg, ended }: { readonly leg: Leg; readonly ended: Ended },
): MeterReading | undefined {
  const { estimate } = (leg.model === call.fallback ? call.fallbackDemand : undefined) ?? call.demand
  const { form } = call.endpoint.kind
  const held: HeldFor = {
    inputTokens: estimate.inputTokens,
    worstOutputTokens: estimate.worstOutputTokens,
    imagesAsked: form?.tokensPerImage === undefined ? 0 : imagesMade(call, leg, estimate.images),
    imagesAtOnce: !call.stream && call.scan.candidatesUncertain !== true,
    tokensPerImage: form?.tokensPerImage ?? 0,
    outputByRule: form?.answersInBytes !== undefined,
  }
  return chargedReading(ended, held, () => ratesOf(pipeline, call, leg))
}

/** The number of images requested, limited to what one call of this model makes. */
function imagesMade(call: ReservedCall, leg: Leg, asked: number): number {
  const { dialect } = upstreamOf(leg, call.catalogue)
  const makesOne = 'makesOne' in dialect && dialect.makesOne?.(leg.chain.forwardModelId) === true
  return makesOne ? Math.min(1, asked) : asked
}

function ratesOf(
  pipeline: Pick<Pipeline, 'observations' | 'telemetry'>,
  call: ReservedCall,
  leg: Leg,
): ChainRates {
  try {
    return {
      observed: pipeline.observations.outputRate(leg.chain.id),
      expected: pipeline.observations.expectedRate(leg.model, leg.chain.id),
      reasons: reasons(call, leg),
    }
  } catch (error) {
    pipeline.telemetry.log.error(
      { requestId: call.requestId, error },
      'a call is charged by the best figure that is known',
    )
    return { observed: undefined, expected: OUTPUT_RATE_ASSUMED, reasons: false }
  }
}

function reasons(call: ReservedCall, leg: Leg): boolean {
  const { dialect } = upstreamOf(leg, call.catalogue)
  return isConvertible(dialect) && capabilitiesOf(leg.chain, dialect).reasoning !== 'none'
}
