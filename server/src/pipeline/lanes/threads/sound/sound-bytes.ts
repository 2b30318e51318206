/**
 * Speech at the lowest common bit rate, 8 kbit/s: sound whose duration cannot be determined, and that is not charged by
 * duration, is assumed to have this rate.
 */
export const BYTES_PER_SECOND_LEAST = 1_000
