/** Names of things, branded so that one kind of id is never passed where another is meant. */
declare const brand: unique symbol
type Branded<Value, Name extends string> = Value & { readonly [brand]: Name }

/** The platform's public model id, the value a client sends as `model` (docs/reference/contract.md#1-36). */
export type ModelId = Branded<string, 'ModelId'>
/** The upstream provider's own model name (docs/reference/contract.md#1-37). */
export type ForwardModelId = Branded<string, 'ForwardModelId'>
/** A provider's code in the catalogue (docs/reference/contract.md#2.1). */
export type VendorCode = Branded<string, 'VendorCode'>
/** Row id of a catalogue entry: one chain (docs/reference/contract.md#2.1). */
export type ChainId = Branded<number, 'ChainId'>
export type CredentialId = Branded<string, 'CredentialId'>
export type AccountId = Branded<string, 'AccountId'>
export type KeyId = Branded<string, 'KeyId'>
/** One person in one organisation. */
export type MemberId = Branded<string, 'MemberId'>
/** UUIDv7 of one call; the idempotency key of everything the call does to money and windows. */
export type CallId = Branded<string, 'CallId'>
/** UUIDv7 of one running process. */
export type InstanceId = Branded<string, 'InstanceId'>

export const modelId = (text: string): ModelId => text as ModelId
export const forwardModelId = (text: string): ForwardModelId => text as ForwardModelId
export const vendorCode = (text: string): VendorCode => text as VendorCode
export const chainId = (row: number): ChainId => row as ChainId
export const credentialId = (text: string): CredentialId => text as CredentialId
export const accountId = (text: string): AccountId => text as AccountId
export const keyId = (text: string): KeyId => text as KeyId
export const memberId = (text: string): MemberId => text as MemberId
export const callId = (text: string): CallId => text as CallId
export const instanceId = (text: string): InstanceId => text as InstanceId
