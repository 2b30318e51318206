/** Units of time in ms. Calendar days vary in length: see `calendar.ts`. */
export const MINUTE_MS = 60_000
export const QUARTER_HOUR_MS = 15 * MINUTE_MS
export const HALF_HOUR_MS = 30 * MINUTE_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS
