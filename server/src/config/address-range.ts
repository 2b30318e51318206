import ipaddr from 'ipaddr.js'

/** A CIDR range, or one address. */
export function isAddressRange(text: string): boolean {
  return (
    ipaddr.isValidCIDR(text) || (ipaddr.isValid(text) && (text.includes(':') || text.split('.').length === 4))
  )
}
