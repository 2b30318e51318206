import type { Usage } from '../canonical/usage.ts'
import { isJsonObject, type JsonValue } from '../json.ts'

/** Where a protocol's dialects write each counter; the first place that holds a number counts. */
export type CounterPaths<Name extends string> = Readonly<Record<Name, readonly (readonly string[])[]>>

export type Counters<Name extends string> = { readonly [Key in Name]: number | undefined }

/** Reads usage objects of one answer as they come; each call gives the state so far. */
export interface UsageReader {
  /** undefined: the object says nothing (`null`, no counters, or all of them zero), which is not "none used". */
  read(wire: JsonValue): Usage | undefined
}

/**
 * A reader that remembers counters as the wire wrote them and does its arithmetic on the latest of each: a later
 * object may repeat the total and leave out a part of it, so merging finished classes would count tokens twice.
 */
export function createCounterReader<Name extends string>(
  paths: CounterPaths<Name>,
  toUsage: (counters: Partial<Counters<Name>>) => Usage,
): UsageReader {
  const latest: Partial<Record<Name, number | undefined>> = {}
  const names = Object.keys(paths).filter((name): name is Name => name in paths)
  return {
    read(wire) {
      let told = false
      for (const name of names) {
        const value = firstNumber(wire, paths[name])
        if (value !== undefined && value > 0) told = true
      }
      if (!told) return undefined
      for (const name of names) latest[name] = firstNumber(wire, paths[name]) ?? latest[name]
      return toUsage(latest)
    },
  }
}

/** a − b, never below zero; undefined parts are taken for none. */
export function minus(
  total: number | undefined,
  ...parts: readonly (number | undefined)[]
): number | undefined {
  if (total === undefined) return undefined
  return Math.max(0, total - parts.reduce<number>((sum, part) => sum + (part ?? 0), 0))
}

function firstNumber(wire: JsonValue, places: readonly (readonly string[])[]): number | undefined {
  for (const place of places) {
    let value: JsonValue | undefined = wire
    for (const step of place) value = isJsonObject(value) ? value[step] : undefined
    if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return Math.round(value)
  }
  return undefined
}
