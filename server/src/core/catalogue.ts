/**
 * What the platform offers: vendors, credentials, models with their prices and chains, groups, settings.
 * One immutable value; a change makes a new one (docs/reference/contract.md#2.1, #2.2; docs/reference/gateway-file.md).
 */
import type { ChainId, CredentialId, ForwardModelId, ModelId, VendorCode } from './ids.ts'
import type { Policy } from './limits/policy.ts'
import type { Secret } from './secret.ts'

export const PROTOCOL_IDS = ['chat', 'responses', 'messages', 'gemini'] as const
/** The four wire languages a client or an upstream of a chat-type call may speak; each is converted into the others. */
export type ProtocolId = (typeof PROTOCOL_IDS)[number]

/** Wire forms of calls other than conversations: passed on unchanged if the vendor speaks them. One line each. */
export const PASSED_FORMS = {
  embeddings: { makesOutputTokens: false },
  // Google's own embed calls, which go over chains of embeddings and are converted for all other vendors.
  'gemini-embeddings': { makesOutputTokens: false, chains: 'embeddings', family: 'gemini' },
  moderation: { makesOutputTokens: false },
  rerank: { makesOutputTokens: false },
  images: { makesOutputTokens: true },
  speech: { makesOutputTokens: true },
  transcription: { makesOutputTokens: true },
} as const satisfies Readonly<Record<string, PassedFormFacts>>

interface PassedFormFacts {
  readonly makesOutputTokens: boolean
  /** Only clients speak it: its calls use chains of that form. Absent: over chains of its own. */
  readonly chains?: 'embeddings'
  /** The protocol whose clients they are: where they put their key and how they read errors. Absent: chat. */
  readonly family?: ProtocolId
}

export type PassedFormId = keyof typeof PASSED_FORMS
export const PASSED_FORM_IDS = Object.keys(PASSED_FORMS).filter(isPassedForm)

/** What client and upstream of a call may speak. */
export type WireId = ProtocolId | PassedFormId
export const WIRE_IDS: readonly WireId[] = [...PROTOCOL_IDS, ...PASSED_FORM_IDS]
/** What a chain speaks: one of those, or the vendor's own video API. */
export type ChainProtocol = WireId | 'video'
export const CHAIN_PROTOCOL_IDS: readonly ChainProtocol[] = [
  ...WIRE_IDS.filter((id) => chainProtocolOf(id) === id),
  'video',
]

export function isPassedForm(id: string): id is PassedFormId {
  return Object.hasOwn(PASSED_FORMS, id)
}

export function isProtocolId(id: ChainProtocol): id is ProtocolId {
  return id !== 'video' && !isPassedForm(id)
}

/** The form of the chains that answer such calls, where nothing is converted. */
export function chainProtocolOf(id: WireId): WireId {
  const facts: PassedFormFacts | undefined = isPassedForm(id) ? PASSED_FORMS[id] : undefined
  return facts?.chains ?? id
}

/** The protocol whose errors and key headers clients of a wire form use. */
export function familyOf(id: WireId): ProtocolId {
  if (isProtocolId(id)) return id
  const facts: PassedFormFacts = PASSED_FORMS[id]
  return facts.family ?? 'chat'
}

/** Answers over such a chain hold output tokens, which have a price. */
export function makesOutputTokens(protocol: ChainProtocol): boolean {
  return !isPassedForm(protocol) || PASSED_FORMS[protocol].makesOutputTokens
}

export type Status = 'enabled' | 'disabled' | 'maintenance'
export type Feature = 'text' | 'image' | 'audio' | 'video'
/** The units a model can be billed by. */
export const BILLING_MODES = [
  'token',
  'image',
  'video_second',
  'request',
  'character',
  'audio_second',
] as const
export type BillingMode = (typeof BILLING_MODES)[number]

/** What a call over such a chain can be billed by. A model billed by none of them would be free. */
export function billedBy(protocol: ChainProtocol): readonly BillingMode[] {
  if (protocol === 'video') return ['video_second', 'request']
  if (protocol === 'speech') return ['token', 'character', 'request']
  if (protocol === 'transcription') return ['token', 'audio_second', 'request']
  // A model that makes tokens may also make images.
  return makesOutputTokens(protocol) ? ['token', 'image', 'request'] : ['token', 'request']
}

/** A decimal number kept exact as text, e.g. "0.9"; parsed by `core/pricing/decimal.ts`. */
export type DecimalText = string

/** ISO 4217, in capitals. */
export type Currency = string

/**
 * Prices in one currency: per million tokens or characters, per request, image, second of video and second of sound. null:
 * falls back or absent.
 */
export interface Pricing {
  readonly currency: Currency
  readonly billingModes: readonly BillingMode[]
  readonly inputPrice: DecimalText | null
  readonly outputPrice: DecimalText | null
  readonly cacheInputPrice: DecimalText | null
  readonly cacheOutputPrice: DecimalText | null
  readonly cacheWritePrice: DecimalText | null
  readonly cacheWrite1hPrice: DecimalText | null
  readonly requestPrice: DecimalText | null
  readonly imagePrice: DecimalText | null
  readonly videoPrice: DecimalText | null
  /** Per million Unicode code points turned into speech. */
  readonly characterPrice: DecimalText | null
  /** Per second of transcribed sound. */
  readonly audioSecondPrice: DecimalText | null
}

export interface Timeouts {
  readonly connectMs: number
  readonly firstByteMs: number
  readonly idleMs: number
}

export interface Vendor {
  readonly code: VendorCode
  readonly name: string
  /** The provider folder that implements it. */
  readonly kind: string
  /** Absent: the provider folder's own address. */
  readonly baseUrl: string | undefined
  readonly timeouts: Timeouts
  readonly status: Status
}

/** A credential: one secret, or named fields for signing schemes. */
export interface CredentialSecret {
  readonly secret: Secret | undefined
  readonly fields: Readonly<Record<string, Secret>>
}

export interface Credential {
  readonly id: CredentialId
  readonly vendorCode: VendorCode
  readonly name: string
  readonly secret: CredentialSecret
  /** Limits that influence routing; they never refuse a call (docs/reference/contract.md#D-admission-24). */
  readonly limits: Policy
  readonly status: Status
}

/** One way to reach a model: a row of the catalogue. */
export interface Chain {
  readonly id: ChainId
  readonly modelId: ModelId
  readonly vendorCode: VendorCode
  readonly credentialId: CredentialId
  readonly protocol: ChainProtocol
  readonly forwardModelId: ForwardModelId
  /** 1 is tried first. */
  readonly priority: number
  /** Share among equal priorities. */
  readonly weight: number
  readonly rateMultiplier: DecimalText
  readonly streamUsage: 'forward' | 'inject'
  /** How long an answer is still read after its client disconnected, before it is cut; 0: cut at once. */
  readonly clientGoneGraceMs: number
  /** An answer with fewer bytes per second than this over the vendor's `idleMs` has stalled; 0: any rate is accepted. */
  readonly minBytesPerSecond: number
  /** What the operator knows about this chain's model, beyond the vendor's folder. */
  readonly capabilities: ChainCapabilities
  readonly status: Status
}

/** Absent members have the value of the vendor's folder. */
export interface ChainCapabilities {
  readonly reasoning?: (typeof REASONING_WORDS)[number]
  /** `none`: temperature, top_p and top_k are refused upstream; `one`: only one of temperature and top_p. */
  readonly sampling?: (typeof SAMPLING_WORDS)[number]
  readonly tools?: boolean
  readonly images?: (typeof IMAGE_WORDS)[number]
  /** Stop sequences it takes; 0: none. */
  readonly stopMax?: number
}

export const REASONING_WORDS = ['none', 'effort', 'budget', 'adaptive', 'level', 'toggle'] as const
export const SAMPLING_WORDS = ['all', 'one', 'none'] as const
export const IMAGE_WORDS = ['url', 'inline', 'none'] as const

/** Default of `Chain.clientGoneGraceMs`: so an answer that was about to end is charged by its true usage. */
export const CLIENT_GONE_GRACE_MS = 3_000
/** Reading on for longer would make the vendor generate output that nobody reads. */
export const CLIENT_GONE_GRACE_MS_MAX = 60_000
/** Default of `Chain.minBytesPerSecond`: about a token in twenty seconds, slower than any model answers. */
export const MIN_BYTES_PER_SECOND = 10
export const MIN_BYTES_PER_SECOND_MAX = 1_000_000

/**
 * What a field adds to the price of a call: the whole call times `multiplier`, or `perCall` for each use, in the prices'
 * currency.
 */
export type Surcharge =
  | { readonly kind: 'multiplier'; readonly multiplier: DecimalText }
  | { readonly kind: 'per-call'; readonly perCall: DecimalText }

export const SURCHARGES_MAX = 50

export interface Model {
  readonly modelId: ModelId
  readonly name: string
  /** When it was first put into the catalogue, epoch ms; set by the store, and never changed. */
  readonly createdAt: number
  readonly status: Status
  readonly clientVisible: boolean
  readonly supportFeatures: readonly Feature[]
  /** 0 none, 1 personal, 2 enterprise; 0 or below always passes (docs/reference/contract.md#5-47). */
  readonly requiredVerification: number
  /** 0 none, 1 PLUS, 2 PRO, 3 PROMAX. */
  readonly requiredPlan: number
  readonly contextTokens: number | undefined
  readonly maxOutputTokens: number | undefined
  readonly subscriptionCovered: boolean
  readonly pricing: Pricing
  /** By name: a field, or a field and its value (`service_tier.priority`), or what an answer counts (`web_search_call`). */
  readonly surcharges: Readonly<Record<string, Surcharge>>
  /** Fields, or fields with their value, that calls of this model may not use. */
  readonly refuse: readonly string[]
  /** Every chain of the model, enabled or not, in catalogue order. */
  readonly chains: readonly Chain[]
}

/** A model as it is written. */
export type ModelFields = Omit<Model, 'chains' | 'createdAt'>

/** A named set {protocol, models} that a key may be bound to (docs/reference/contract.md#D-addresses-09). */
export interface Group {
  readonly name: string
  readonly protocol: WireId
  readonly models: readonly ModelId[]
}

export interface Plan {
  readonly code: string
  /** 1 PLUS, 2 PRO, 3 PROMAX. */
  readonly level: number
  /** Per period, in `currency`. */
  readonly price: DecimalText
  readonly currency: Currency
  readonly periodDays: number
  readonly quota: readonly { readonly credits: DecimalText; readonly seconds: number }[]
}

export interface Settings {
  /** The currency of balances, caps, exchange steps and packages, and of prices that name none. */
  readonly currency: Currency
  /** Credits for one unit of `currency`. */
  readonly creditsPerUnit: DecimalText
  /** Credits for one unit of each further currency that prices may use. */
  readonly otherCurrencies: Readonly<Record<Currency, DecimalText>>
  /** IANA name; the calendar month of the consumption cap is counted in it. */
  readonly timezone: string
  readonly keyPrefix: string
  /** Policy of keys that have none of their own. */
  readonly limits: Policy
}

export interface Catalogue {
  readonly settings: Settings
  readonly vendors: ReadonlyMap<VendorCode, Vendor>
  readonly credentials: ReadonlyMap<CredentialId, Credential>
  readonly models: ReadonlyMap<ModelId, Model>
  readonly groups: ReadonlyMap<string, Group>
  readonly plans: ReadonlyMap<string, Plan>
}
