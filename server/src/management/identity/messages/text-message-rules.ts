/** What the operator lets text messages cost. */

export interface TextMessageRules {
  /** Of a UTC day, and of a calendar month in UTC. */
  readonly dayLimit: number
  readonly monthLimit: number
  /** ISO 3166 codes, or prefixes with their +. Empty: everywhere. */
  readonly countries: readonly string[]
  readonly refused: readonly string[]
}
