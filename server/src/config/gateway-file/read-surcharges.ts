import { say } from '../../core/sentences/say.ts'
import { type Surcharge, SURCHARGES_MAX } from '../../core/catalogue.ts'
import type { FileNode, Report } from './file-node.ts'
import { openMap, type Read } from './map-reader.ts'
import { decimal, formed } from './values.ts'

const FIELD = /^[A-Za-z][A-Za-z0-9_-]{0,99}(\.[A-Za-z0-9_:.-]{1,100})?$/
const FIELD_FORM = say('must-be-a-surcharge-field')

/** A field that makes calls more expensive, with or without a particular value. */
export const extraCostField: Read<string> = formed(FIELD, FIELD_FORM)

/** `{service_tier.priority: 1.75, web_search_call: {per_call: 0.07}}`; writing some replaces all. */
export const readSurcharges: Read<Readonly<Record<string, Surcharge>>> = (node, report) => {
  if (node.kind !== 'map') {
    report(node.place, say('map-of-surcharges'))
    return undefined
  }
  if (node.entries.size > SURCHARGES_MAX) {
    report(node.place, say('at-most-entries', { most: SURCHARGES_MAX }))
    return undefined
  }
  const surcharges: Record<string, Surcharge> = {}
  for (const [name, entry] of node.entries) {
    if (!FIELD.test(name)) report(entry.keyPlace, FIELD_FORM)
    const surcharge = readSurcharge(entry.value, report)
    if (surcharge !== undefined) surcharges[name] = surcharge
  }
  return surcharges
}

/** A number multiplies the whole call; `{per_call: …}` is added for each use, in the currency of the prices. */
function readSurcharge(node: FileNode, report: Report): Surcharge | undefined {
  if (node.kind === 'map') {
    const map = openMap(node, report)
    const perCall = map?.required('per_call', decimal({ most: '1000000' }))
    map?.close()
    return perCall === undefined ? undefined : { kind: 'per-call', perCall }
  }
  const multiplier = decimal({ above: '0', most: '1000' })(node, report)
  return multiplier === undefined ? undefined : { kind: 'multiplier', multiplier }
}
