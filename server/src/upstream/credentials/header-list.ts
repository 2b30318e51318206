/** Headers in the order in which they are sent. */

/** Alternating names and values. */
export type HeaderList = readonly string[]
