/** The operator's limits for text messages. */

export interface TextMessageRules {
  /** Messages per UTC day, and per calendar month in UTC. */
  readonly dayLimit: number
  readonly monthLimit: number
  /** ISO 3166 codes, or prefixes with their +. Empty: everywhere. */
  readonly countries: readonly string[]
  readonly refused: readonly string[]
}
