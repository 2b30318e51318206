/**
 * Speech at the lowest rate that anybody records it at, 8 kbit/s: sound whose length cannot be told is charged as long as
 * its bytes at this rate.
 */
export const BYTES_PER_SECOND_LEAST = 1_000
