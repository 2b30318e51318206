import { below } from '../provider.ts'

/** The vendor's address is written with its `/v1`, or without; both of its video forms lie at the root. */
export function videoAddress(baseUrl: string, version: 'v1' | 'v2', path: string): string {
  return below(baseUrl.replace(/\/v1\/*$/, ''), `/${version}${path}`)
}
