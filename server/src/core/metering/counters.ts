import type { Usage } from '../canonical/usage.ts'
import { type JsonKind, JsonScanner, type JsonSink } from '../passthrough/json-scanner.ts'
import { compileWatchTree, type WatchNode } from '../passthrough/watch-tree.ts'

/** Where a protocol's dialects write each counter; an earlier place takes precedence over a later one. */
export type CounterPlaces<Name extends string> = Readonly<Record<Name, readonly string[]>>

/** The latest value of each counter as received; undefined: never reported. */
export type Counters<Name extends string> = Readonly<Record<Name, number | undefined>>

/** Reads usage objects of one answer as they come; each call gives the state so far. */
export interface UsageReader {
  /**
   * Reads the JSON object `bytes[from, to)`. undefined: it holds no information (no counters, or all of them zero),
   * which is not "none used" (docs/protocols.md#usage).
   */
  read(bytes: Uint8Array, from: number, to: number): Usage | undefined
}

export interface UsageDialect<Name extends string> {
  readonly places: CounterPlaces<Name>
  readonly toUsage: (counters: Counters<Name>) => Usage
}

/** A maker of readers for one protocol; its places are compiled once. */
export function usageReaders<Name extends string>(dialect: UsageDialect<Name>): () => UsageReader {
  const names = Object.keys(dialect.places).filter((name): name is Name => name in dialect.places)
  const slots: Slot[] = names.flatMap((name, counter) =>
    dialect.places[name].map((path, rank) => ({ counter, path, rank })),
  )
  const tree = compileWatchTree(slots.map(({ path }, watch) => ({ path, watch, wanted: false })))
  const scan = new CounterScan(names.length, slots, tree)
  return () => new CounterReader(dialect, names, scan)
}

/** a − b, never below zero; undefined parts count as 0. */
export function minus(
  total: number | undefined,
  ...parts: readonly (number | undefined)[]
): number | undefined {
  if (total === undefined) return undefined
  return Math.max(0, total - parts.reduce<number>((sum, part) => sum + (part ?? 0), 0))
}

interface Slot {
  /** Its place among the names. */
  readonly counter: number
  readonly path: string
  /** 0 for the place that takes precedence. */
  readonly rank: number
}

const NOTHING = new Uint8Array(0)

/** Reads the counters of one usage object. Done when `read` returns, so one serves all answers of a protocol. */
class CounterScan implements JsonSink {
  readonly #slots: readonly Slot[]
  readonly #scanner: JsonScanner
  /** Of each counter, as are the ranks. */
  readonly #found: (number | undefined)[]
  /** Rank of the place each counter was read from. */
  readonly #ranks: number[]
  #told = false
  #bytes: Uint8Array = NOTHING
  #from = 0

  constructor(counters: number, slots: readonly Slot[], tree: WatchNode) {
    this.#slots = slots
    this.#scanner = new JsonScanner(tree, this)
    this.#found = Array.from({ length: counters }, () => undefined)
    this.#ranks = Array.from({ length: counters }, () => 0)
  }

  /** Valid until the next object is read. undefined: it holds no information. */
  read(bytes: Uint8Array, from: number, to: number): readonly (number | undefined)[] | undefined {
    this.#bytes = bytes
    this.#from = from
    this.#told = false
    this.#found.fill(undefined)
    this.#scanner.reset()
    const readable = this.#scanner.push(bytes, from, to) && this.#scanner.end()
    this.#bytes = NOTHING
    return readable && this.#told ? this.#found : undefined
  }

  onValue(watch: number, kind: JsonKind, start: number, end: number): void {
    const slot = this.#slots[watch]
    if (slot === undefined || kind !== 'number') return
    const value = readCount(this.#bytes, this.#from + start, this.#from + end)
    if (value === undefined) return
    const { counter, rank } = slot
    if (this.#found[counter] !== undefined && rank > (this.#ranks[counter] ?? 0)) return
    this.#found[counter] = value
    this.#ranks[counter] = rank
    if (value > 0) this.#told = true
  }
}

/**
 * Remembers counters as the wire wrote them and does its arithmetic on the latest of each: a later object may repeat
 * the total without one of its parts, so merging the computed classes would count tokens twice. Some vendors send a
 * usage object with every event, so it is scanned in place and never parsed.
 */
class CounterReader<Name extends string> implements UsageReader {
  readonly #dialect: UsageDialect<Name>
  readonly #names: readonly Name[]
  readonly #scan: CounterScan
  #latest: Partial<Record<Name, number | undefined>> = {}

  constructor(dialect: UsageDialect<Name>, names: readonly Name[], scan: CounterScan) {
    this.#dialect = dialect
    this.#names = names
    this.#scan = scan
  }

  read(bytes: Uint8Array, from: number, to: number): Usage | undefined {
    const found = this.#scan.read(bytes, from, to)
    if (found === undefined) return undefined
    const latest: Partial<Record<Name, number | undefined>> = {}
    this.#names.forEach((name, counter) => {
      latest[name] = found[counter] ?? this.#latest[name]
    })
    this.#latest = latest
    // It has each of the names.
    return this.#dialect.toUsage(latest as Counters<Name>)
  }
}

/** Counters stay far below a quadrillion. */
const DIGITS_MAX = 15

/** The number written in `bytes[from, to)`, if it is a count; 12.0 and 1e3 are counts too. */
function readCount(bytes: Uint8Array, from: number, to: number): number | undefined {
  let value = 0
  for (let at = from; at < to; at++) {
    const digit = (bytes[at] ?? 0) - 0x30
    if (digit < 0 || digit > 9) return readOddCount(bytes.subarray(from, to))
    value = value * 10 + digit
  }
  return to - from <= DIGITS_MAX ? value : undefined
}

function readOddCount(spelling: Uint8Array): number | undefined {
  const value = Number(new TextDecoder().decode(spelling))
  return Number.isFinite(value) && value >= 0 && value < 10 ** DIGITS_MAX ? Math.round(value) : undefined
}
