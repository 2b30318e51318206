/** Headers in the order in which they are sent. */

/** Names and values in turn, as undici takes them. */
export type HeaderList = readonly string[]
