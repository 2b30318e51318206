/** Converts a chain between form values and request bodies. */
import type { Chain, ChainChange, NewChain } from '../../api/operator/chains.ts'
import { everyOf } from '../../parts/forms/every-of.ts'
import { type PricingValues, pricingBodyOf, pricingValuesOf } from '../parts/pricing-values.ts'
import { capabilitiesOf, type CapabilityValues, capabilityValuesOf } from './capability-values.ts'

export const PROTOCOLS = everyOf<NewChain['protocol']>({
  chat: true,
  responses: true,
  messages: true,
  gemini: true,
  embeddings: true,
  moderation: true,
  rerank: true,
  images: true,
  speech: true,
  transcription: true,
  video: true,
})
export const STREAM_USAGES = ['forward', 'inject'] as const

export type ChainValues = {
  readonly model_id: string
  readonly vendor: string
  readonly credential: string
  readonly protocol: NewChain['protocol']
  readonly forward_model_id: string
  readonly priority: number | string
  readonly weight: number | string
  readonly rate_multiplier: number | string
  readonly stream_usage: (typeof STREAM_USAGES)[number]
  readonly client_gone_grace_ms: number | string
  readonly min_bytes_per_second: number | string
  readonly capabilities: CapabilityValues
  /** Whether the vendor's prices for us are entered. */
  readonly costs: boolean
  readonly cost: PricingValues
}

export function valuesOf(of: Chain | undefined, model: string, currency: string): ChainValues {
  return {
    model_id: of?.model_id ?? model,
    vendor: of?.vendor ?? '',
    credential: of?.credential ?? '',
    protocol: of !== undefined && PROTOCOLS.is(of.protocol) ? of.protocol : 'chat',
    forward_model_id: of?.forward_model_id ?? '',
    priority: of?.priority ?? 1,
    weight: of?.weight ?? 1,
    rate_multiplier: of?.rate_multiplier ?? 1,
    stream_usage: of?.stream_usage === 'inject' ? 'inject' : 'forward',
    client_gone_grace_ms: of?.client_gone_grace_ms ?? 0,
    min_bytes_per_second: of?.min_bytes_per_second ?? 0,
    capabilities: capabilityValuesOf(of?.capabilities ?? {}),
    costs: of !== undefined && of.cost !== null,
    cost: pricingValuesOf(of?.cost ?? null, currency),
  }
}

const NUMBERS = ['priority', 'weight', 'client_gone_grace_ms', 'min_bytes_per_second'] as const

/** The body of a change: only changed fields. */
export function changeOf(values: ChainValues, before: ChainValues): ChainChange {
  const numbers = NUMBERS.filter((name) => Number(values[name]) !== Number(before[name]))
  const capabilities = capabilitiesOf(values.capabilities)
  const cost = values.costs ? pricingBodyOf(values.cost) : null
  const had = before.costs ? pricingBodyOf(before.cost) : null
  return {
    ...(values.credential === before.credential ? {} : { credential: values.credential }),
    ...(values.forward_model_id === before.forward_model_id
      ? {}
      : { forward_model_id: values.forward_model_id }),
    ...(values.stream_usage === before.stream_usage ? {} : { stream_usage: values.stream_usage }),
    ...(String(values.rate_multiplier) === String(before.rate_multiplier)
      ? {}
      : { rate_multiplier: String(values.rate_multiplier) }),
    ...Object.fromEntries(numbers.map((name) => [name, Number(values[name])])),
    ...(isSame(capabilities, capabilitiesOf(before.capabilities)) ? {} : { capabilities }),
    ...(isSame(cost, had) ? {} : { cost }),
  }
}

export function newChainOf(values: ChainValues): NewChain {
  const capabilities = capabilitiesOf(values.capabilities)
  const { model_id, vendor, credential, protocol, forward_model_id: forward } = values
  return {
    model_id,
    vendor,
    protocol,
    priority: Number(values.priority),
    weight: Number(values.weight),
    rate_multiplier: String(values.rate_multiplier),
    ...(credential === '' ? {} : { credential }),
    ...(forward.trim() === '' ? {} : { forward_model_id: forward.trim() }),
    ...(Object.keys(capabilities).length === 0 ? {} : { capabilities }),
    ...(values.costs ? { cost: pricingBodyOf(values.cost) } : {}),
  }
}

function isSame(one: object | null, other: object | null): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
