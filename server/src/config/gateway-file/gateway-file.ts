/**
 * The contents of a gateway file, row by row. `undefined`: not in the file, so an existing row keeps its value and a
 * new one gets the default. `null`: explicitly none.
 */
import type {
  BillingMode,
  ChainCapabilities,
  ChainProtocol,
  CredentialSecret,
  Currency,
  DecimalText,
  Feature,
  Pricing,
  WireId,
  Status,
  Surcharge,
  Timeouts,
} from '../../core/catalogue.ts'
import type { ForwardModelId, ModelId, VendorCode } from '../../core/ids.ts'
import type { Policy } from '../../core/limits/policy.ts'
import type { Secret } from '../../core/secret.ts'
import type { Place } from './file-node.ts'

/**
 * A section that is `undefined` is absent from the file, which is not the same as empty: pruning does not change it.
 */
export interface GatewayFile {
  readonly settings: SettingsRow | undefined
  readonly vendors: readonly VendorRow[] | undefined
  readonly models: readonly ModelRow[] | undefined
  readonly groups: readonly GroupRow[] | undefined
  readonly plans: readonly PlanRow[] | undefined
  readonly accounts: readonly AccountFileRow[] | undefined
}

export interface SettingsRow {
  readonly currency: Currency | undefined
  readonly currencyPlace: Place
  /** Credits for one unit of each; rates not in the file are unchanged. */
  readonly currencies: Readonly<Record<Currency, DecimalText>> | undefined
  /** Position of the rates, or of the settings if there are none. */
  readonly ratePlace: Place
  readonly timezone: string | undefined
  readonly keyPrefix: string | undefined
  readonly limits: Policy | undefined
}

export interface VendorRow {
  readonly place: Place
  readonly code: VendorCode
  readonly name: string | undefined
  readonly kind: string | undefined
  readonly baseUrl: string | null | undefined
  readonly timeouts: Partial<Timeouts> | undefined
  /** A vendor or credential in the file is on, unless it says otherwise. */
  readonly status: Status
  readonly credentials: readonly CredentialRow[] | undefined
}

export interface CredentialRow {
  readonly place: Place
  readonly name: string
  /** undefined: keep the stored one. */
  readonly secret: CredentialSecret | undefined
  readonly limits: Policy | undefined
  readonly status: 'enabled' | 'disabled'
}

export interface ModelRow {
  readonly place: Place
  readonly modelId: ModelId
  readonly name: string | undefined
  readonly status: Status
  readonly clientVisible: boolean | undefined
  readonly supportFeatures: readonly Feature[] | undefined
  readonly requiredVerification: number | undefined
  readonly requiredPlan: number | undefined
  readonly contextTokens: number | null | undefined
  readonly maxOutputTokens: number | null | undefined
  readonly subscriptionCovered: boolean | undefined
  readonly pricing: PricingRow | undefined
  readonly surcharges: Readonly<Record<string, Surcharge>> | undefined
  readonly refuse: readonly string[] | undefined
  readonly chains: readonly ChainRow[] | undefined
}

/** Prices that may omit their currency (`currencyOfPrice`). */
export interface PricingRow extends Omit<Pricing, 'currency'> {
  readonly currency: Currency | undefined
  readonly currencyPlace: Place
  /** Position of the output price, or where it would be. */
  readonly outputPricePlace: Place
}

/** Natural key: vendor, credential, protocol and forward model id, within the model. */
export interface ChainRow {
  readonly place: Place
  readonly vendor: Named<VendorCode>
  /** undefined: the vendor's only one. */
  readonly credential: Named<string> | undefined
  readonly protocol: ChainProtocol
  readonly forwardModelId: ForwardModelId
  readonly priority: number | undefined
  readonly weight: number | undefined
  readonly rateMultiplier: DecimalText | undefined
  readonly streamUsage: 'forward' | 'inject' | undefined
  readonly clientGoneGraceMs: number | undefined
  readonly minBytesPerSecond: number | undefined
  readonly capabilities: ChainCapabilities | undefined
  readonly status: Status
}

/** The name of another row, and its position. */
export interface Named<Name extends string> {
  readonly name: Name
  readonly place: Place
}

export interface GroupRow {
  readonly place: Place
  readonly name: string
  readonly protocol: WireId | undefined
  readonly models: readonly Named<ModelId>[] | undefined
}

export interface PlanRow {
  readonly place: Place
  readonly code: string
  readonly level: number | undefined
  readonly price: DecimalText | undefined
  readonly currency: Currency | undefined
  readonly currencyPlace: Place
  readonly periodDays: number | undefined
  readonly quota: readonly { readonly credits: DecimalText; readonly seconds: number }[] | undefined
}

export interface AccountFileRow {
  readonly place: Place
  /** At least one of the two is set. */
  readonly email: string | undefined
  readonly phone: string | undefined
  readonly password: Secret | undefined
  readonly role: 'admin' | 'user' | undefined
  readonly status: 'active' | 'suspended' | undefined
  readonly verification: 'none' | 'personal' | 'enterprise' | undefined
  readonly userRate: DecimalText | undefined
  /** Opening Credits of the account. */
  readonly credits: DecimalText | undefined
  /** Opening balance of the account, in the platform's own currency. */
  readonly balance: DecimalText | undefined
  readonly apiDeduction: boolean | undefined
  /** 0: no cap. */
  readonly monthlyCapYuan: DecimalText | undefined
  readonly autoExchange: AutoExchangeRow | undefined
  readonly subscription: SubscriptionRow | null | undefined
  readonly fallbackModel: Named<ModelId> | null | undefined
  readonly limits: Policy | undefined
  readonly byok: readonly ByokRow[] | undefined
  readonly keys: readonly KeyRow[] | undefined
}

export interface AutoExchangeRow {
  readonly enabled: boolean | undefined
  readonly belowCredits: DecimalText | undefined
  readonly stepYuan: DecimalText | undefined
}

export interface SubscriptionRow {
  readonly plan: Named<string>
  /** undefined: the plan's period. */
  readonly days: number | undefined
}

export interface ByokRow {
  readonly place: Place
  readonly vendor: Named<VendorCode>
  /** undefined: keep the stored one. */
  readonly secret: CredentialSecret | undefined
  readonly enabled: boolean
}

export interface KeyRow {
  readonly place: Place
  readonly name: string
  readonly secret: { readonly value: Secret; readonly place: Place } | undefined
  readonly status: 'enabled' | 'disabled' | undefined
  /** Epoch ms. */
  readonly expiresAt: number | null | undefined
  readonly group: Named<string> | null | undefined
  readonly models: readonly Named<ModelId>[] | undefined
  readonly ipAllow: readonly string[] | undefined
  /** null: the platform's default policy. */
  readonly policy: Policy | null | undefined
}

/** The price that each billing mode requires, with its names in the file and in the tables. */
const PRICE_OF_MODE = {
  // And `output_price`, if answers contain output tokens.
  token: ['input_price', 'inputPrice'],
  image: ['image_price', 'imagePrice'],
  video_second: ['video_price', 'videoPrice'],
  request: ['request_price', 'requestPrice'],
  character: ['character_price', 'characterPrice'],
  audio_second: ['audio_second_price', 'audioSecondPrice'],
} as const satisfies Record<BillingMode, readonly [string, keyof Pricing]>

/** Prices that the billing modes require but that are missing, by their names in the file. */
export function missingPrices(
  pricing: Omit<Pricing, 'currency'>,
): readonly { readonly mode: BillingMode; readonly name: string }[] {
  return pricing.billingModes.flatMap((mode) => {
    const [name, price] = PRICE_OF_MODE[mode]
    return pricing[price] === null ? [{ mode, name }] : []
  })
}

export const FEATURES = ['text', 'image', 'audio', 'video'] as const satisfies readonly Feature[]
export const STATUSES = ['enabled', 'disabled', 'maintenance'] as const satisfies readonly Status[]
