/** Converts catalogue rows into the core's types. */
import type { Selectable } from 'kysely'
import {
  type Chain,
  type ChainCapabilities,
  type ChainProtocol,
  type Feature,
  type Group,
  type Model,
  type Plan,
  type Pricing,
  WIRE_IDS,
  type WireId,
  type Status,
  type Timeouts,
  type Vendor,
} from '../../../core/catalogue.ts'
import { chainId, credentialId, forwardModelId, modelId, vendorCode } from '../../../core/ids.ts'
import type { Schema } from '../schema.ts'
import { parseStored } from '../stored-json.ts'

export function decodeVendor(row: Selectable<Schema['vendors']>): Vendor {
  return {
    code: vendorCode(row.code),
    name: row.name,
    kind: row.kind,
    baseUrl: row.base_url ?? undefined,
    timeouts: parseStored<Timeouts>(row.timeouts),
    status: decodeStatus(row.status),
  }
}

export function decodeModel(row: Selectable<Schema['models']>, chains: readonly Chain[]): Model {
  return {
    modelId: modelId(row.model_id),
    name: row.name,
    createdAt: Number(row.created_at),
    status: decodeStatus(row.status),
    clientVisible: row.client_visible === 1n,
    supportFeatures: parseStored<readonly Feature[]>(row.support_features),
    requiredVerification: Number(row.required_verification),
    requiredPlan: Number(row.required_plan),
    contextTokens: row.context_tokens === null ? undefined : Number(row.context_tokens),
    maxOutputTokens: row.max_output_tokens === null ? undefined : Number(row.max_output_tokens),
    subscriptionCovered: row.subscription_covered === 1n,
    pricing: parseStored<Pricing>(row.pricing),
    surcharges: parseStored<Model['surcharges']>(row.surcharges),
    refuse: parseStored<Model['refuse']>(row.refuse),
    chains,
  }
}

export function decodeChain(row: Selectable<Schema['chains']>): Chain {
  return {
    id: chainId(Number(row.id)),
    modelId: modelId(row.model_id),
    vendorCode: vendorCode(row.vendor_code),
    credentialId: credentialId(row.credential_id),
    protocol: decodeChainProtocol(row.protocol),
    forwardModelId: forwardModelId(row.forward_model_id),
    priority: Number(row.priority),
    weight: Number(row.weight),
    rateMultiplier: row.rate_multiplier,
    streamUsage: row.stream_usage === 'inject' ? 'inject' : 'forward',
    clientGoneGraceMs: Number(row.client_gone_grace_ms),
    minBytesPerSecond: Number(row.min_bytes_per_second),
    capabilities: parseStored<ChainCapabilities>(row.capabilities),
    status: decodeStatus(row.status),
  }
}

export function decodeGroup(row: Selectable<Schema['protocol_groups']>): Group {
  return {
    name: row.name,
    protocol: decodeWireId(row.protocol),
    models: parseStored<Group['models']>(row.models),
  }
}

export function decodePlan(row: Selectable<Schema['plans']>): Plan {
  return {
    code: row.code,
    level: Number(row.level),
    price: row.price,
    currency: row.currency,
    periodDays: Number(row.period_days),
    quota: parseStored<Plan['quota']>(row.quota),
  }
}

export function decodeStatus(text: string): Status {
  if (text === 'enabled' || text === 'disabled' || text === 'maintenance') return text
  throw new Error(`the catalogue holds the unknown status ${text}`)
}

function decodeChainProtocol(text: string): ChainProtocol {
  return text === 'video' ? text : decodeWireId(text)
}

function decodeWireId(text: string): WireId {
  const protocol = WIRE_IDS.find((id) => id === text)
  if (protocol === undefined) throw new Error(`the catalogue holds the unknown protocol ${text}`)
  return protocol
}
