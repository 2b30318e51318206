/** base_url or gateway_base_url (contract, head). */
export type Address = 'base' | 'gateway'

/** If one port serves both addresses, the host name distinguishes them. */
export function addressOfHost(host: string | undefined, gatewayHost: string | undefined): Address {
  const [name = ''] = (host ?? '').toLowerCase().split(':')
  return name === gatewayHost ? 'gateway' : 'base'
}
