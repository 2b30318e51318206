/** Headers in the order in which they are sent. */

/** Names and values in turn. */
export type HeaderList = readonly string[]
