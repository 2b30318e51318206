/**
 * What an answer reports about things that vendors charge for besides tokens: how often tools ran, and its tier, speed or
 * region. Names are the answer's own; `../pricing/surcharges.ts` knows which of them mean the same.
 */
export interface ToldExtras {
  /** The vendor's own counts, by tool; 0: told that it was not used. */
  readonly counted: ReadonlyMap<string, number>
  /** Uses that the answer shows, by tool. */
  readonly seen: ReadonlyMap<string, number>
  /** Tools whose every use a whole answer shows: one that is in neither map was not used. */
  readonly listed: readonly string[]
  /** Fields with the value the answer was made at: `service_tier` → `priority`. */
  readonly fields: ReadonlyMap<string, string>
}
