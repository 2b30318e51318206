/** Names of things, branded so that one kind of id is never passed where another is meant, and how a new one is put together. */
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

export interface UuidParts {
  /** Epoch ms, below 2^48. */
  readonly at: number
  /** 0 to 4095, orders the ids of one millisecond. */
  readonly counter: number
  /** At least 8 bytes, of which two bits do not count. */
  readonly random: Uint8Array
}

/** A UUIDv7 (RFC 9562 §5.7): ids sort by the time they were made, so that rows made together lie together in an index. */
export function uuidV7({ at, counter, random }: UuidParts): string {
  const time = at.toString(16).padStart(12, '0')
  const order = counter.toString(16).padStart(3, '0')
  const byte = (index: number) => HEX[random[index] ?? 0] ?? ''
  const variant = HEX[((random[0] ?? 0) & 0x3f) | 0x80] ?? ''
  const node = byte(2) + byte(3) + byte(4) + byte(5) + byte(6) + byte(7)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${order}-${variant}${byte(1)}-${node}`
}

const HEX = Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, '0'))
