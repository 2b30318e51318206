import { say } from '../../core/sentences/say.ts'
import {
  BILLING_MODES,
  type BillingMode,
  CLIENT_GONE_GRACE_MS_MAX,
  MIN_BYTES_PER_SECOND_MAX,
  CHAIN_PROTOCOL_IDS,
  WIRE_IDS,
} from '../../core/catalogue.ts'
import { forwardModelId, type ModelId, modelId, vendorCode } from '../../core/ids.ts'
import type { FileNode, Report } from './file-node.ts'
import { readCapabilities } from './read-capabilities.ts'
import { extraCostField, readSurcharges } from './read-surcharges.ts'
import {
  type ChainRow,
  FEATURES,
  type GroupRow,
  type ModelRow,
  type Named,
  missingPrices,
  type PricingRow,
  STATUSES,
} from './gateway-file.ts'
import { type MapReader, memberPlace, openMap, type Read } from './map-reader.ts'
import { boolean, currencyCode, decimal, formed, integer, list, shortText, word } from './values.ts'

/** It is used in paths (Gemini) and in clients' settings. */
const MODEL_ID = formed(/^[^\s\p{Cc}]{1,200}$/u, say('must-be-a-model-id'))
const FORWARD_MODEL_ID = shortText(500)
const TOKENS = integer({ least: 1, most: 1_000_000_000 })
const PRICE = decimal()

/** The name of a model, with its position: whether it exists is checked when the whole file is known. */
export const modelName: Read<Named<ModelId>> = (node, report) => {
  const value = MODEL_ID(node, report)
  return value === undefined ? undefined : { name: modelId(value), place: node.place }
}

export const readModel: Read<ModelRow> = (node, report) => {
  const map = openMap(node, report)
  if (map === undefined) return undefined
  const id = map.required('model_id', MODEL_ID)
  const row = {
    place: map.place,
    name: map.optional('name', shortText(200)),
    status: map.optional('status', word(STATUSES)) ?? 'enabled',
    clientVisible: map.optional('client_visible', boolean),
    supportFeatures: map.optional('support_features', list(word(FEATURES))),
    requiredVerification: map.optional(
      'required_verification',
      integer({ least: Number.MIN_SAFE_INTEGER, most: 2 }),
    ),
    requiredPlan: map.optional('required_plan', integer({ least: Number.MIN_SAFE_INTEGER, most: 3 })),
    contextTokens: map.nullable('context_tokens', TOKENS),
    maxOutputTokens: map.nullable('max_output_tokens', TOKENS),
    subscriptionCovered: map.optional('subscription_covered', boolean),
    pricing: map.optional('pricing', readPricing),
    surcharges: map.optional('surcharges', readSurcharges),
    refuse: map.optional('refuse', list(extraCostField)),
    chains: map.optional('chains', list(readChain(id))),
  } as const
  map.close()
  return id === undefined ? undefined : { ...row, modelId: modelId(id) }
}

/** Prices are one value: writing some replaces all. */
export const readPricing: Read<PricingRow> = (node, report) => {
  const map = openMap(node, report)
  if (map === undefined) return undefined
  const billingModes = map.optional('billing_modes', readBillingModes) ?? ['token']
  const price = (name: string) => map.optional(name, PRICE) ?? null
  const pricing: PricingRow = {
    currency: map.optional('currency', currencyCode),
    currencyPlace: memberPlace(map, 'currency'),
    outputPricePlace: memberPlace(map, 'output_price'),
    billingModes: [...new Set(billingModes)],
    inputPrice: price('input_price'),
    outputPrice: price('output_price'),
    cacheInputPrice: price('cache_input_price'),
    cacheOutputPrice: price('cache_output_price'),
    cacheWritePrice: price('cache_write_price'),
    cacheWrite1hPrice: price('cache_write_1h_price'),
    requestPrice: price('request_price'),
    imagePrice: price('image_price'),
    videoPrice: price('video_price'),
    characterPrice: price('character_price'),
    audioSecondPrice: price('audio_second_price'),
  }
  map.close()
  reportMissingPrices(map, pricing, report)
  return pricing
}

const readBillingModes: Read<readonly BillingMode[]> = (node, report) => {
  const modes = list(word(BILLING_MODES))(node, report)
  const isEmpty = node.kind === 'list' && node.items.length === 0
  if (isEmpty) report(node.place, say('billing-mode-needed'))
  return modes
}

function reportMissingPrices(map: MapReader, pricing: PricingRow, report: Report): void {
  for (const { mode, name } of missingPrices(pricing)) {
    // An invalid price has been reported already.
    if (isWritten(map, name)) continue
    const place = { ...map.placeOf(name), path: `${map.place.path}.${name}` }
    report(place, say('missing-for-mode', { mode }))
  }
}

function isWritten(map: MapReader, name: string): boolean {
  let written = false
  // Read with a separate report, so that nothing is reported twice.
  map.optional(name, () => {
    written = true
    return undefined
  })
  return written
}

function readChain(model: string | undefined): Read<ChainRow> {
  return (node: FileNode, report: Report) => {
    const map = openMap(node, report)
    if (map === undefined) return undefined
    const vendor = map.required('vendor', named)
    const protocol = map.required('protocol', word(CHAIN_PROTOCOL_IDS))
    const row = {
      place: map.place,
      credential: map.optional('credential', named),
      forwardModelId: forwardModelId(map.optional('forward_model_id', FORWARD_MODEL_ID) ?? model ?? ''),
      priority: map.optional('priority', integer({ least: 0, most: 1_000_000 })),
      weight: map.optional('weight', integer({ least: 0, most: 1_000_000 })),
      rateMultiplier: map.optional('rate_multiplier', PRICE),
      streamUsage: map.optional('stream_usage', word(['forward', 'inject'])),
      clientGoneGraceMs: map.optional(
        'client_gone_grace_ms',
        integer({ least: 0, most: CLIENT_GONE_GRACE_MS_MAX }),
      ),
      minBytesPerSecond: map.optional(
        'min_bytes_per_second',
        integer({ least: 0, most: MIN_BYTES_PER_SECOND_MAX }),
      ),
      capabilities: map.optional('capabilities', readCapabilities),
      status: map.optional('status', word(STATUSES)) ?? 'enabled',
    } as const
    map.close()
    if (vendor === undefined || protocol === undefined) return undefined
    return { ...row, vendor: { ...vendor, name: vendorCode(vendor.name) }, protocol }
  }
}

/** The name of another row, with its position. */
export const named: Read<Named<string>> = (node, report) => {
  const name = shortText(200)(node, report)
  return name === undefined ? undefined : { name, place: node.place }
}

export const readGroup: Read<GroupRow> = (node, report) => {
  const map = openMap(node, report)
  if (map === undefined) return undefined
  const name = map.required('name', shortText(100))
  const row = {
    place: map.place,
    protocol: map.optional('protocol', word(WIRE_IDS)),
    models: map.optional('models', list(modelName)),
  }
  map.close()
  return name === undefined ? undefined : { ...row, name }
}
