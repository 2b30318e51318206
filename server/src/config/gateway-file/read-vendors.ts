import { say } from '../../core/sentences/say.ts'
import { type CredentialSecret, type Timeouts } from '../../core/catalogue.ts'
import { vendorCode } from '../../core/ids.ts'
import { Secret } from '../../core/secret.ts'
import { nearestName } from '../../core/nearest-name.ts'
import type { FileNode, Report } from './file-node.ts'
import { type CredentialRow, STATUSES, type VendorRow } from './gateway-file.ts'
import { type MapReader, openMap, type Read } from './map-reader.ts'
import { address, formed, integer, list, policy, secret, shortText, text, word } from './values.ts'

const CODE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const TIMEOUT = integer({ least: 1, most: 86_400_000 })

export function readVendor(kinds: readonly string[]): Read<VendorRow> {
  return (node, report) => {
    const map = openMap(node, report)
    if (map === undefined) return undefined
    const code = map.required('code', formed(CODE, say('must-be-a-vendor-code')))
    const row = {
      place: map.place,
      name: map.optional('name', shortText(200)),
      kind: map.optional('kind', kindOf(kinds)),
      baseUrl: map.nullable('base_url', address),
      timeouts: map.optional('timeouts', readTimeouts),
      status: map.optional('status', word(STATUSES)) ?? 'enabled',
      credentials: map.optional('credentials', list(readCredential)),
    } as const
    map.close()
    return code === undefined ? undefined : { ...row, code: vendorCode(code) }
  }
}

function kindOf(kinds: readonly string[]): Read<string> {
  return (node, report) => {
    const value = text(node, report)
    if (value === undefined || kinds.includes(value)) return value
    const nearest = nearestName(value, kinds)
    const sentence = say('unknown-vendor-kind')
    report(
      node.place,
      nearest === undefined
        ? say('known-are', { sentence, names: kinds.join(', ') })
        : say('did-you-mean', { sentence, name: nearest }),
    )
    return undefined
  }
}

function readTimeouts(node: FileNode, report: Report): Partial<Timeouts> | undefined {
  const map = openMap(node, report)
  if (map === undefined) return undefined
  const connectMs = map.optional('connect_ms', TIMEOUT)
  const firstByteMs = map.optional('first_byte_ms', TIMEOUT)
  const idleMs = map.optional('idle_ms', TIMEOUT)
  map.close()
  return {
    ...(connectMs === undefined ? {} : { connectMs }),
    ...(firstByteMs === undefined ? {} : { firstByteMs }),
    ...(idleMs === undefined ? {} : { idleMs }),
  }
}

function readCredential(node: FileNode, report: Report): CredentialRow | undefined {
  const map = openMap(node, report)
  if (map === undefined) return undefined
  const name = map.required('name', shortText(100))
  const row = {
    place: map.place,
    secret: readCredentialSecret(map),
    limits: map.optional('limits', policy),
    status: map.optional('status', word(['enabled', 'disabled'])) ?? 'enabled',
  } as const
  map.close()
  return name === undefined ? undefined : { ...row, name }
}

/**
 * `secret`, `fields` of a signing scheme, or both (a service account and its region); with neither, the stored one is
 * kept.
 */
export function readCredentialSecret(map: MapReader): CredentialSecret | undefined {
  const single = map.optional('secret', secret)
  const fields = map.optional('fields', readFields)
  return single === undefined && fields === undefined ? undefined : { secret: single, fields: fields ?? {} }
}

/** The fields depend on the vendor, so every name is accepted. */
function readFields(node: FileNode, report: Report): Readonly<Record<string, Secret>> | undefined {
  if (node.kind !== 'map') {
    report(node.place, say('map-of-secrets'))
    return undefined
  }
  const fields: Record<string, Secret> = {}
  for (const [name, entry] of node.entries) {
    const value = text(entry.value, report)
    if (value !== undefined) fields[name] = new Secret(value)
  }
  return fields
}
