import type { Estimate } from '../../core/ledger/operations.ts'
import { type Catalogue, type ChainProtocol, type Model, isProtocolId } from '../../core/catalogue.ts'
import type { Counts } from '../../core/metering/quantities.ts'
import { TOKEN_CAP_LEAST } from '../../core/metering/chain-observation.ts'
import { comesUnder } from '../../core/pricing/surcharges.ts'
import { usableChains } from '../../core/routing/order.ts'
import { providerOf } from '../../providers/index.ts'
import type { EndpointKind, EstimateParts, EstimatedCall } from '../kinds/kind.ts'
import { ROUNDS_OF_TOOLS } from '../../core/metering/possible-usage.ts'
import { protocolOf } from '../../core/protocols/index.ts'
import type { ReceivedCall } from '../call.ts'

/** English text and JSON average about four bytes per token; settlement uses the true count. */
const BYTES_PER_TOKEN = 4
/** An image or a file, before the upstream has counted it. */
const TOKENS_PER_MEDIA = 1_600
/** Output bound of a call that names no cap of its own: enough for most answers, settled afterwards. */
const OUTPUT_TOKENS_ASSUMED = 4_096
/** Output bound if neither client nor model has one. */
const OUTPUT_TOKENS_WORST = 128_000
/** For one image, whatever its size or address: the most any vendor counts. */
const TOKENS_PER_MEDIA_WORST = 40_000
/** What a vendor adds around a conversation and its tools. */
const FRAMING_TOKENS_WORST = 2_000
/** Input bound if something unseen is read and the model has none. */
const CONTEXT_TOKENS_WORST = 1_000_000
/** What one use of a vendor's tool adds to the conversation: a large page, as counted in the vendors' own guides. */
const TOOL_RESULT_TOKENS_WORST = 25_000
/** Tools whose results the vendor keeps short. Others read third-party text, up to the whole context. */
const SHORT_RESULTS = ['web_search', 'code_interpreter', 'image_generation', 'file_search']

/**
 * What a call will probably use, which must be affordable, and its maximum, which is held as far as the account can
 * cover it (docs/operating/charges.md#what-is-held).
 */
export function estimateOf(model: Model, call: EstimatedCall, parts: EstimateParts): Estimate {
  const { bodyBytes, mediaBytes, mediaCount, maxOutputTokens: cap, candidates = 1 } = call.scan
  const likely = Math.ceil((bodyBytes - mediaBytes) / BYTES_PER_TOKEN) + mediaCount * TOKENS_PER_MEDIA
  const inputMax = model.contextTokens ?? Number.POSITIVE_INFINITY
  const outputMax = model.maxOutputTokens ?? OUTPUT_TOKENS_WORST
  const bounded = cap === undefined ? Math.min(outputMax, OUTPUT_TOKENS_ASSUMED) : Math.min(cap, outputMax)
  // Some vendors raise a cap below this; that does not count as exceeding it.
  const trusted =
    cap !== undefined && keepsCaps(model, call.at, parts)
      ? Math.min(Math.max(cap, TOKEN_CAP_LEAST), outputMax)
      : outputMax
  return {
    inputTokens: Math.min(likely, inputMax),
    outputTokens: bounded * candidates,
    images: model.pricing.billingModes.includes('image') ? 1 : 0,
    videoSeconds: 0,
    bound: cap === undefined ? 'affordable' : 'strict',
    worstInputTokens: worstInput(model, call, parts.catalogue),
    worstOutputTokens: trusted * candidates,
    covers: 'worst',
  }
}

/**
 * For a call that is charged for input only: it can cost no more than what it sends, and no token is shorter than a
 * byte.
 */
export function estimateInput(model: Model, { scan }: Pick<EstimatedCall, 'scan'>): Estimate {
  const bytes = scan.bodyBytes + scan.items * scan.repeatedBytes
  const unseen = scan.extras.unseenInput ? (model.contextTokens ?? CONTEXT_TOKENS_WORST) : 0
  return {
    inputTokens: Math.ceil(bytes / BYTES_PER_TOKEN),
    outputTokens: 0,
    images: 0,
    videoSeconds: 0,
    bound: 'strict',
    worstInputTokens: bytes + unseen,
    worstOutputTokens: 0,
    covers: 'worst',
  }
}

/**
 * The model reads the conversation again after each use of a tool at the vendor, with the results of all earlier uses.
 * No vendor says how long those can be, so this limit is an assumption of the gateway
 * (docs/decisions/0015-what-costs-extra.md).
 */
function worstInput(model: Model, call: EstimatedCall, catalogue: Catalogue): number {
  const { bodyBytes, mediaCount, extras } = call.scan
  const window = model.contextTokens ?? CONTEXT_TOKENS_WORST
  const sent = bodyBytes + mediaCount * TOKENS_PER_MEDIA_WORST + FRAMING_TOKENS_WORST
  const first = readsUnseen(call) ? window : Math.min(sent, model.contextTokens ?? sent)
  const uses = toolUsesMax(model, call, catalogue)
  const areShort = extras.hostedTools.every((tool) => SHORT_RESULTS.some((name) => comesUnder(tool, name)))
  const result = areShort ? TOOL_RESULT_TOKENS_WORST : window
  let total = first
  for (let use = 1; use <= uses; use += 1) total += Math.min(first + use * result, Math.max(window, first))
  return total
}

/** Documents, kept conversations and caches: their tokens cannot be counted from the bytes seen here. */
function readsUnseen({ scan, past }: Pick<EstimatedCall, 'scan' | 'past'>): boolean {
  return scan.extras.unseenInput || past?.kind === 'upstream'
}

/** The call may use any usable chain, so if one of them billed beyond a cap, none is trusted. */
function keepsCaps(model: Model, at: number, { catalogue, observations }: EstimateParts): boolean {
  return usableChains(model, catalogue).every((chain) => {
    if (!observations.trustsCap(chain.id, at)) return false
    const kind = catalogue.vendors.get(chain.vendorCode)?.kind
    const provider = kind === undefined ? undefined : providerOf(kind)
    return provider?.reasoningOutsideCap !== true || chain.capabilities.reasoning === 'none'
  })
}

/** More flags than this in one header are ignored. */
const FLAGS_MAX = 64

/**
 * Everything a call requests that some vendor charges for: fields with their values, tools that run at the vendor, and
 * the flags of headers that are passed on (`anthropic-beta.context-1m-2025-08-07`).
 */
export function askedExtras({
  scan,
  headers,
  endpoint,
}: Pick<ReceivedCall, 'scan' | 'headers' | 'endpoint'>): readonly string[] {
  const { extraCostFields, hostedTools } = scan.extras
  if (!isProtocolId(endpoint.protocol)) return NOTHING
  const flags: string[] = []
  for (const name of protocolOf(endpoint.protocol).forwardedHeaders)
    if (name.endsWith('-beta')) for (const flag of flagsOf(headers[name])) flags.push(`${name}.${flag}`)
  return flags.length + extraCostFields.length + hostedTools.length === 0
    ? NOTHING
    : [...extraCostFields, ...hostedTools, ...flags]
}

const NOTHING: readonly string[] = []

/**
 * How often the vendor's tools that a call offers may be used at most. A client's own limit counts only if every vendor
 * receives it unchanged.
 */
export function toolUsesMax(
  model: Model,
  call: Pick<ReceivedCall, 'scan'> & {
    readonly endpoint: { readonly protocol: ChainProtocol }
  },
  catalogue: Catalogue,
): number {
  const { toolUsesMax: asked } = call.scan.extras
  if (asked === 0) return 0
  const passed = usableChains(model, catalogue).every(({ protocol }) => protocol === call.endpoint.protocol)
  return passed ? asked : Math.max(asked, ROUNDS_OF_TOOLS)
}

function flagsOf(header: string | undefined): readonly string[] {
  if (header === undefined) return NOTHING
  return header
    .split(',', FLAGS_MAX)
    .map((flag) => flag.trim().toLowerCase())
    .filter((flag) => flag !== '')
}

/** A usable chain whose vendor charges for an extra that the model neither prices nor refuses. */
interface UnpricedExtras {
  readonly model: string
  readonly vendor: string
  readonly extras: readonly string[]
}

export function unpricedExtras(catalogue: Catalogue): readonly UnpricedExtras[] {
  return [...catalogue.models.values()].flatMap((model) => {
    const known = [...Object.keys(model.surcharges), ...model.refuse]
    return usableChains(model, catalogue).flatMap((chain) => {
      const kind = catalogue.vendors.get(chain.vendorCode)?.kind
      const extraCosts = (kind === undefined ? undefined : providerOf(kind)?.extraCosts) ?? []
      const unpriced = extraCosts.filter((extra) => !known.some((name) => comesUnder(extra, name)))
      if (unpriced.length === 0) return []
      return [{ model: model.modelId, vendor: chain.vendorCode, extras: unpriced }]
    })
  })
}

/** One call and the images it asks for: what most kinds take from windows. */
export function callAndImages({ images }: Pick<Estimate, 'images'>): Counts {
  return { requests: 1, images, videos: 0, videoSeconds: 0 }
}

/** What a call of a kind takes from windows, apart from what is only known at its end. */
export function countsOf(kind: EndpointKind, estimate: Estimate): Counts {
  return kind.counts?.(estimate) ?? NOTHING_COUNTED
}

const NOTHING_COUNTED: Counts = { requests: 0, images: 0, videos: 0, videoSeconds: 0 }
