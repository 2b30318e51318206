/**
 * What an answer reports about things that vendors charge for besides tokens: how often tools ran, and its tier, speed or
 * region. Names are the answer's own; `../pricing/surcharges.ts` knows which of them mean the same.
 */
export interface ToldExtras {
  /** The vendor's own counts, by tool; 0: reported as not used. */
  readonly counted: ReadonlyMap<string, number>
  /** Uses that the answer shows, by tool. */
  readonly seen: ReadonlyMap<string, number>
  /** Tools whose uses all appear in a whole answer: one that is in neither map was not used. */
  readonly listed: readonly string[]
  /** Fields with the value that the answer was made with: `service_tier` → `priority`. */
  readonly fields: ReadonlyMap<string, string>
}
