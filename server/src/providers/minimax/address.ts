import { below } from '../provider.ts'

/** The vendor's address may or may not end with `/v1`; both of its video APIs are at the root. */
export function videoAddress(baseUrl: string, version: 'v1' | 'v2', path: string): string {
  return below(baseUrl.replace(/\/v1\/*$/, ''), `/${version}${path}`)
}
