import ipaddr from 'ipaddr.js'
import { type Catalogue, familyOf, type Group, WIRE_IDS } from '../../core/catalogue.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { protocolOf } from '../../core/protocols/index.ts'
import { hashKey } from '../../storage/key-hash.ts'
import { type Soon, whenKnown } from '../../core/soon.ts'
import type { Storage } from '../../storage/storage.ts'
import { advance, type Staged } from '../call.ts'
import type { KeyHolder } from '../instance/directory.ts'
import type { Pipeline } from '../context.ts'
import type { Account } from '../../storage/stores/accounts.ts'
import type { Key } from '../../storage/stores/keys.ts'
import type { ModelId } from '../../core/ids.ts'

/**
 * Finds the caller from the headers alone, before a byte of the body is read
 * (docs/reference/contract.md#D-admission-01).
 */
export function authenticate<Call extends Staged & PresentedCredentials & { readonly at: number }>(
  pipeline: Pick<Pipeline, 'catalogue' | 'directory'>,
  call: Call,
): Soon<Omit<Call, 'stage'> & Authenticated> {
  const catalogue = pipeline.catalogue()
  return whenKnown(pipeline.directory.find(hashKey(presentedKey(call))), (found) => {
    const { key, account } = usable(found, call.at)
    return advance(call, { key, account, catalogue, stage: 'authenticated' } as const)
  })
}

/** What is known about a call of any kind from here on. */
export interface Authenticated {
  readonly stage: 'authenticated'
  readonly key: Key
  readonly account: Account
  /** The catalogue at the call's arrival; later changes do not affect the call. */
  readonly catalogue: Catalogue
}

/**
 * The holder of a key from the store itself, for answers without a reservation: the key may have been revoked on another instance,
 * or its member may no longer call.
 */
export async function findHolderNow(
  pipeline: Pick<Pipeline, 'directory' | 'storage'>,
  hash: string,
  at: number,
): Promise<KeyHolder> {
  const holder = usable(await pipeline.directory.findFresh(hash), at)
  // The caller reports a suspended account, which takes precedence over its members
  // (docs/reference/contract.md#D-errors-07).
  if (holder.account.status !== 'suspended') await checkMember(pipeline.storage, holder.key)
  return holder
}

/** The same errors as for the key's calls (core/calls/decide-reserve.ts). */
async function checkMember(
  storage: Pick<Storage, 'organisations' | 'accounts'>,
  { memberId }: Pick<Key, 'memberId'>,
): Promise<void> {
  if (memberId === undefined) return
  const member = await storage.organisations.findMember(memberId)
  if (member === undefined) throw new GatewayError(40101)
  const person = await storage.accounts.find(member.accountId)
  if (person?.status !== 'active')
    throw new GatewayError(40303, {
      message: 'the account of the member this API key belongs to is suspended',
    })
  if (member.status === 'suspended')
    throw new GatewayError(40102, {
      message: 'the member this API key belongs to is suspended in the organisation',
    })
}

/** Whether the key may be used at all: 40101 unknown or deleted, 40102 disabled, 40103 expired. */
function usable(found: KeyHolder | undefined, at: number): KeyHolder {
  if (found === undefined) throw new GatewayError(40101)
  const { key } = found
  if (key.status !== 'enabled') throw new GatewayError(key.status === 'disabled' ? 40102 : 40101)
  if (key.expiresAt !== undefined && key.expiresAt <= at) throw new GatewayError(40103)
  return found
}

export interface PresentedCredentials {
  readonly endpoint: { readonly protocol: string; readonly path: string }
  readonly address: 'base' | 'gateway'
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly keyInQuery: boolean
}

/**
 * Which header holds the key (docs/reference/contract.md#5-06, #D-addresses-17, #D-addresses-39): a bearer everywhere
 * and before anything else; `x-api-key` only at the gateway address, for messages and the model list; `x-goog-api-key`
 * only for Gemini.
 */
export function presentedKey(call: PresentedCredentials): string {
  const { authorization } = call.headers
  if (authorization !== undefined) return bearer(authorization)
  const other = keyHeaderBesideBearer(call)
  const presented = other === undefined ? undefined : call.headers[other]
  if (presented !== undefined && presented !== '') return presented
  throw missingKey(call)
}

function bearer(authorization: string): string {
  const [, token] = /^bearer +(\S+) *$/i.exec(authorization) ?? []
  if (token === undefined) throw new GatewayError(40001)
  return token
}

/** Clients of messages read the model list too. */
function keyHeaderBesideBearer(call: PresentedCredentials): string | undefined {
  const { protocol, path } = call.endpoint
  const spoken = path === '/v1/models' ? 'messages' : WIRE_IDS.find((id) => id === protocol)
  const header = spoken === undefined ? undefined : protocolOf(familyOf(spoken)).keyHeader
  return header?.at === 'gateway-address' && call.address !== 'gateway' ? undefined : header?.name
}

function missingKey(call: PresentedCredentials): GatewayError {
  if (!call.keyInQuery) return new GatewayError(40001)
  return new GatewayError(40001, {
    message:
      'api_key is required: a key in the query string is not accepted, because addresses end up in logs; ' +
      'send it as Authorization: Bearer <API key> or x-goog-api-key',
  })
}

export interface RestrictedUse {
  readonly key: Key
  readonly account: Account
  readonly address: 'base' | 'gateway'
  readonly ip: string
  /** A chat-type protocol, or `video`, which no group is bound to. */
  readonly protocol: string
  readonly modelId: ModelId
}

/** The checks that need no model: the group's protocol, the address, the account. */
export function checkKey(use: Omit<RestrictedUse, 'modelId'>, catalogue: Catalogue): void {
  findGroup(use, catalogue)
  checkAddress(use)
  if (use.account.status === 'suspended') throw new GatewayError(40303)
}

/**
 * Applies the key's own restrictions to a received call of any kind, so that a refusal is logged with what was
 * requested.
 */
export function restrict(call: RestrictedCall): void {
  const { key, account, address, ip, endpoint, modelId } = call
  checkRestrictions({ key, account, address, ip, protocol: endpoint.protocol, modelId }, call.catalogue)
}

type RestrictedCall = Omit<RestrictedUse, 'protocol'> &
  Pick<Authenticated, 'catalogue'> & { readonly endpoint: { readonly protocol: string } }

/** Throws the 403 that applies, in the order group, lists, account. */
export function checkRestrictions(use: RestrictedUse, catalogue: Catalogue): void {
  checkGroup(use, catalogue)
  if (use.key.models.length > 0 && !use.key.models.includes(use.modelId)) {
    throw new GatewayError(40302, { message: `this API key may not call the model ${use.modelId}` })
  }
  checkAddress(use)
  if (use.account.status === 'suspended') throw new GatewayError(40303)
}

/** Whether the lists of a key let it call another model in place of the one it asked for. */
export function mayStandIn(
  key: Pick<Key, 'group' | 'models'>,
  modelId: ModelId,
  catalogue: Catalogue,
): boolean {
  const group = key.group === undefined ? undefined : catalogue.groups.get(key.group)
  const inGroup = key.group === undefined || group?.models.includes(modelId) === true
  return inGroup && (key.models.length === 0 || key.models.includes(modelId))
}

export function checkAddress(use: {
  readonly key: Pick<Key, 'id' | 'accountId' | 'ipAllow'>
  readonly ip: string
}): void {
  if (use.key.ipAllow.length > 0 && !use.key.ipAllow.some((range) => contains(range, use.ip))) {
    throw new AddressNotAllowed(use.key, use.ip)
  }
}

/** A key was used from an address it does not allow: perhaps it has leaked. */
export class AddressNotAllowed extends GatewayError {
  /** Data for the security log. */
  readonly about: { readonly key: string; readonly account: string; readonly address: string }

  constructor({ id, accountId }: Pick<Key, 'id' | 'accountId'>, ip: string) {
    super(40302, { message: `this API key may not be used from the address ${ip}` })
    this.name = 'AddressNotAllowed'
    this.about = { key: id, account: accountId, address: ip }
  }
}

function checkGroup(use: RestrictedUse, catalogue: Catalogue): void {
  const group = findGroup(use, catalogue)
  if (group !== undefined && !group.models.includes(use.modelId)) {
    throw new GatewayError(40301, {
      message: `the model ${use.modelId} is outside the group ${group.name} of this API key`,
    })
  }
}

/** At the gateway address every key is bound to a group. */
export function checkBound({
  key,
  address,
}: Pick<RestrictedUse, 'address'> & { readonly key: Pick<Key, 'group'> }): void {
  if (address === 'base' || key.group !== undefined) return
  throw new GatewayError(40301, {
    message:
      'at this address an API key must be bound to a protocol group; use the main address or a bound key',
  })
}

/** The key's group, checked against the protocol; `undefined`: the key has no group and needs none. */
function findGroup(use: Omit<RestrictedUse, 'modelId'>, catalogue: Catalogue): Group | undefined {
  if (use.key.group === undefined) {
    checkBound(use)
    return undefined
  }
  const group = catalogue.groups.get(use.key.group)
  if (group === undefined)
    throw new GatewayError(40301, { message: `the group ${use.key.group} of this API key no longer exists` })
  if (group.protocol !== use.protocol) {
    throw new GatewayError(40301, {
      message: `this API key is bound to the ${group.protocol} protocol and cannot be used for ${use.protocol}`,
    })
  }
  return group
}

/** True if the address is in the CIDR range; an IPv4 address mapped into IPv6 counts as IPv4. */
function contains(range: string, address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const [network, bits] = ipaddr.parseCIDR(
    range.includes('/') ? range : `${range}/${ipaddr.parse(range).kind() === 'ipv4' ? 32 : 128}`,
  )
  const caller = ipaddr.process(address)
  return caller.kind() === network.kind() && caller.match([network, bits] as [typeof caller, number])
}
