/**
 * Speech at the lowest rate that anybody records it at, 8 kbit/s: sound whose length cannot be told, and that is not charged
 * by its length, is thought to be as long as its bytes at this rate.
 */
export const BYTES_PER_SECOND_LEAST = 1_000
