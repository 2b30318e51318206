/** What a key itself forbids: its group (40301), its model and address lists (40302), a suspended account (40303). */
import ipaddr from 'ipaddr.js'
import type { Catalogue, Group } from '../../core/catalogue.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { ModelId } from '../../core/ids.ts'
import type { Account } from '../../storage/stores/accounts.ts'
import type { Key } from '../../storage/stores/keys.ts'
import type { Pipeline } from '../context.ts'

export interface RestrictedUse {
  readonly key: Key
  readonly account: Account
  readonly address: 'base' | 'gateway'
  readonly ip: string
  /** A chat-type protocol, or `video`, which no group is bound to. */
  readonly protocol: string
  readonly modelId: ModelId
}

/** What holds before a model is named: the group's protocol, the address, the account. */
export function checkKey(use: Omit<RestrictedUse, 'modelId'>, catalogue: Catalogue): void {
  findGroup(use, catalogue)
  checkAddress(use)
  if (use.account.status === 'suspended') throw new GatewayError(40303)
}

/** Applies the key's own restrictions to a received call of any kind, so that a refusal is logged with what was asked for. */
export function restrict(pipeline: Pick<Pipeline, 'catalogue'>, call: RestrictedCall): void {
  const { key, account, address, ip, endpoint, modelId } = call
  checkRestrictions({ key, account, address, ip, protocol: endpoint.protocol, modelId }, pipeline.catalogue())
}

type RestrictedCall = Omit<RestrictedUse, 'protocol'> & { readonly endpoint: { readonly protocol: string } }

/** Throws the 403 that applies, in the order group, lists, account. */
export function checkRestrictions(use: RestrictedUse, catalogue: Catalogue): void {
  checkGroup(use, catalogue)
  if (use.key.models.length > 0 && !use.key.models.includes(use.modelId)) {
    throw new GatewayError(40302, { message: `this API key may not call the model ${use.modelId}` })
  }
  checkAddress(use)
  if (use.account.status === 'suspended') throw new GatewayError(40303)
}

export function checkAddress(use: {
  readonly key: Pick<Key, 'id' | 'accountId' | 'ipAllow'>
  readonly ip: string
}): void {
  if (use.key.ipAllow.length > 0 && !use.key.ipAllow.some((range) => contains(range, use.ip))) {
    throw new AddressNotAllowed(use.key, use.ip)
  }
}

/** A key was used from where it may not be: perhaps by somebody who has found it. */
export class AddressNotAllowed extends GatewayError {
  /** For the security log. */
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

/** The key's group, fit for the protocol; `undefined`: the key is bound to none and need not be. */
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

/** True when the address lies in the CIDR range; an IPv4 address mapped into IPv6 counts as IPv4. */
function contains(range: string, address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const [network, bits] = ipaddr.parseCIDR(
    range.includes('/') ? range : `${range}/${ipaddr.parse(range).kind() === 'ipv4' ? 32 : 128}`,
  )
  const caller = ipaddr.process(address)
  return caller.kind() === network.kind() && caller.match([network, bits] as [typeof caller, number])
}
