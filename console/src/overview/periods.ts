/** Periods in whole hours or days, including the current one. */
export const PERIODS = ['24h', '14d', '30d'] as const
export type Period = (typeof PERIODS)[number]
export const DEFAULT_PERIOD: Period = '14d'
