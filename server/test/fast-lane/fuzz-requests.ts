/** Requests of the plain shape against llhttp: what the fast lane takes it takes, and reads the same out of it. */
import { readPlainRequest } from '../../src/http/fast-lane/read-request.ts'
import { seededChance } from '../passthrough/test-kit.ts'
import { HEADERS_MAX, makeRequests, type RequestCase } from './request-cases.ts'
import { type ReadRequest, readByFastLane, readByNode, sameFields } from './request-readers.ts'

export interface FuzzOptions {
  readonly seed: number
  readonly cases: number
  readonly progress?: (done: number) => void
}

export interface FuzzCounts {
  /** Requests that the fast lane took. */
  taken: number
  /** Connections of which it took none. */
  left: number
  /** Connections of which it took some, and left what followed. */
  handedOver: number
}

/** Throws at the first difference, naming its seed. */
export function fuzzRequests({ seed, cases, progress }: FuzzOptions): FuzzCounts {
  const counts = { taken: 0, left: 0, handedOver: 0 }
  for (let at = 0; at < cases; at += 1) {
    const made = makeRequests(seed + at)
    const own = readByFastLane(made)
    const fault = differs(made, own, readByNode(made)) ?? changesWithMore(made, seed + at)
    if (fault !== undefined) throw new Error(`seed ${seed + at}: ${fault}\n${show(made)}`)
    counts.taken += own.length
    if (own.length === 0) counts.left += 1
    else if (own.length < (made.plain ?? Infinity)) counts.handedOver += 1
    if (at % 10_000 === 9_999) progress?.(at + 1)
  }
  return counts
}

function differs(
  { plain }: RequestCase,
  own: readonly ReadRequest[],
  others: readonly ReadRequest[],
): string | undefined {
  if (plain !== undefined && own.length !== plain)
    return `${own.length} of ${plain} plain requests were taken`
  for (const [at, one] of own.entries()) {
    const other = others[at]
    if (other === undefined) return `request ${at} is none for llhttp`
    const special = other.special()
    if (special !== undefined) return `request ${at} has ${special}`
    if (!sameFields(one.fields, other.fields)) return `request ${at} has other fields for llhttp`
    for (const part of ['method', 'target', 'body', 'whole'] as const) {
      if (one[part] !== other[part])
        return `request ${at}, ${part}: ${JSON.stringify(one[part])} and ${JSON.stringify(other[part])}`
    }
  }
  return undefined
}

/** A head is read the same however much of what follows came with it, and not at all while it is incomplete. */
function changesWithMore({ bytes, headBytesMax }: RequestCase, seed: number): string | undefined {
  const bounds = { headBytesMax, headersMax: HEADERS_MAX }
  const whole = readPlainRequest(bytes, bounds)
  const end = whole?.headBytes ?? bytes.byteLength
  const to = seededChance(seed).below(bytes.byteLength + 1)
  const part = readPlainRequest(bytes.subarray(0, to), bounds)
  if (to < end) return part === undefined ? undefined : `a head was read from its first ${to} bytes`
  return JSON.stringify(part) === JSON.stringify(whole) ? undefined : `${to} bytes are read in another way`
}

function show({ bytes, cuts, headBytesMax }: RequestCase): string {
  return `${JSON.stringify(bytes.toString('latin1'))}, cut at ${cuts.join(' ')}, heads up to ${headBytesMax} bytes`
}
