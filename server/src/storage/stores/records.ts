import type {
  Chain,
  CredentialSecret,
  Group,
  ModelFields,
  Plan,
  Settings,
  Vendor,
} from '../../core/catalogue.ts'
import type { ChainId, ModelId, VendorCode } from '../../core/ids.ts'
import type { Policy } from '../../core/limits/policy.ts'

/** One row of the catalogue to write or to switch off, matched by its natural key (gateway file). */
export type CatalogueChange =
  | { readonly kind: 'put-settings'; readonly settings: Settings }
  | { readonly kind: 'put-vendor'; readonly vendor: Vendor }
  | {
      readonly kind: 'put-credential'
      readonly vendorCode: VendorCode
      readonly name: string
      /** undefined: keep the stored secret. Encrypted at rest by the store. */
      readonly secret: CredentialSecret | undefined
      readonly limits: Policy
      readonly status: 'enabled' | 'disabled'
    }
  | { readonly kind: 'put-model'; readonly model: ModelFields }
  /** Natural key of a chain: model, vendor, credential, protocol, forward model id. */
  | {
      readonly kind: 'put-chain'
      readonly chain: Omit<Chain, 'id' | 'credentialId'>
      readonly credentialName: string
    }
  /**
   * Changes a chain's natural key: it keeps its id and everything that refers to it. Rejects with `StorageConflict` if
   * its key is no longer `from`, or another chain has the key `to`.
   */
  | {
      readonly kind: 'move-chain'
      readonly id: ChainId
      readonly vendorCode: VendorCode
      readonly from: ChainPlace
      readonly to: ChainPlace
    }
  | { readonly kind: 'put-group'; readonly group: Group }
  | { readonly kind: 'put-plan'; readonly plan: Plan }
  | { readonly kind: 'disable-vendor'; readonly code: VendorCode }
  | { readonly kind: 'disable-credential'; readonly vendorCode: VendorCode; readonly name: string }
  | { readonly kind: 'disable-model'; readonly modelId: ModelId }
  | { readonly kind: 'disable-chain'; readonly id: number }
  | { readonly kind: 'remove-group'; readonly name: string }
  | { readonly kind: 'remove-plan'; readonly code: string }

/** The part of a chain's natural key that may change. */
export interface ChainPlace {
  readonly credentialName: string
  readonly forwardModelId: string
}

/** A difference between the ledger's entries and the stored balances. */
export interface LedgerDifference {
  readonly subject: string
  readonly what: string
  readonly expected: string
  readonly found: string
}
