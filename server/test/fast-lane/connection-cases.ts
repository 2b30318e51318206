/** What arrives on one connection, in what pieces, and what is done with it: seeded, without an end. */
import { type Chance, seededChance } from '../passthrough/test-kit.ts'
import type { Part } from './played-call.ts'
import { makeRequests } from './request-cases.ts'

export interface ConnectionCase {
  readonly bytes: Buffer
  /** Where it is cut into pieces, ascending. */
  readonly cuts: readonly number[]
  /** Turns in front of each piece. */
  readonly pauses: readonly number[]
  /** How the client ends: after all was answered, or after so many pieces. */
  readonly end: ClientEnd
  /** What is done with the first request, with the second, and so on. */
  readonly parts: readonly Part[]
  /** Turns that the client takes for each write, in turn. */
  readonly takes: readonly number[]
}

export interface ClientEnd {
  readonly how: 'ends its side' | 'vanishes'
  /** Infinity: when nothing happens any more. */
  readonly afterPieces: number
}

/** As much as a socket reads at once. */
const READ_BYTES_MAX = 65_536
const REQUESTS_MAX = 6

export function makeConnection(seed: number): ConnectionCase {
  const chance = seededChance(seed)
  const count = 1 + chance.below(REQUESTS_MAX)
  const isPlain = chance.below(3) > 0
  const texts = Array.from({ length: count }, () =>
    isPlain || chance.below(4) > 0 ? plainCall(chance) : makeRequests(chance.below(1_000_000_000)).bytes,
  )
  const bytes = Buffer.concat(texts)
  const cuts = cutsOf(texts, chance)
  return {
    bytes,
    cuts,
    pauses: Array.from({ length: 8 }, () => chance.pick([0, 0, 0, 1, 3, 12])),
    end: {
      how: chance.pick(['ends its side', 'vanishes']),
      afterPieces: chance.below(3) === 0 ? chance.below(cuts.length + 2) : Number.POSITIVE_INFINITY,
    },
    parts: Array.from({ length: 4 * REQUESTS_MAX }, () => partOf(chance)),
    takes: Array.from({ length: 8 }, () => chance.pick([0, 0, 0, 0, 1, 4])),
  }
}

function plainCall(chance: Chance): Buffer {
  const method = chance.pick(['POST', 'POST', 'GET', 'DELETE'])
  const size = chance.pick([0, 0, 1, 30, 700, 9_000, chance.below(300), chance.below(150_000)])
  const body = Buffer.alloc(
    size,
    `${chance.pick(['GET / HTTP/1.1\r\n\r\n', '{}', '\r\n', 'x'])}${chance.below(100)}`,
  )
  const length = size > 0 || chance.below(2) === 0 ? `Content-Length: ${size}\r\n` : ''
  const head = `${method} /call/${chance.below(1_000)}?a=${chance.below(9)} HTTP/1.1\r\nHost: a\r\n${length}\r\n`
  return Buffer.concat([Buffer.from(head, 'latin1'), body])
}

function cutsOf(texts: readonly Buffer[], chance: Chance): readonly number[] {
  const total = texts.reduce((sum, text) => sum + text.byteLength, 0)
  const places = new Set<number>()
  const anywhere = chance.below(4) === 0
  let start = 0
  for (const text of texts) {
    const end = start + text.byteLength
    const body = start + text.indexOf('\r\n\r\n') + 4
    if (chance.below(2) === 0) places.add(end)
    if (chance.below(3) === 0) places.add(body)
    for (let left = chance.below(4); left > 0; left -= 1) places.add(body + chance.below(end - body + 1))
    if (anywhere) places.add(start + chance.below(text.byteLength + 1))
    start = end
  }
  // Piece after piece of a byte, for a while.
  if (chance.below(16) === 0) {
    const from = chance.below(total)
    for (let at = from; at < Math.min(total, from + 200); at += 1) places.add(at)
  }
  return bounded(
    [...places].filter((at) => at > 0 && at < total).toSorted((one, other) => one - other),
    total,
  )
}

/** No piece is larger than what a socket reads at once. */
function bounded(places: readonly number[], total: number): readonly number[] {
  const all: number[] = []
  let from = 0
  for (const to of [...places, total]) {
    for (from += READ_BYTES_MAX; from < to; from += READ_BYTES_MAX) all.push(from)
    if (to < total) all.push(to)
    from = to
  }
  return all
}

const TEXTS = ['text ', 'ü€ ', '\r\n', 'HTTP/1.1 200 OK\r\n\r\n'] as const

function partOf(chance: Chance): Part {
  const form = chance.pick(['length', 'chunked', 'length', 'chunked', 'none'] as const)
  return {
    kind: chance.below(16) === 0 ? 'leaves' : chance.below(8) === 0 ? 'refuses unread' : 'answers',
    form: form === 'none' && chance.below(3) > 0 ? 'length' : form,
    pieces: Array.from({ length: chance.below(5) }, () => pieceOf(chance)),
    waits: chance.pick([0, 0, 0, 1, 3]),
    pauses: chance.pick([0, 0, 0, 1, 3]),
    closes: chance.below(16) === 0,
    breaksAfter: chance.below(32) === 0 ? chance.below(5) : undefined,
  }
}

function pieceOf(chance: Chance): Buffer | string {
  const size = chance.pick([0, 1, 20, 500, 9_000, 20_000, 40_000])
  if (chance.below(2) === 0) return Buffer.alloc(size, chance.below(256))
  return chance.pick(TEXTS).repeat(Math.ceil(size / 5))
}
