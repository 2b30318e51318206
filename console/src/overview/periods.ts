/** How far back one looks: in whole hours or whole days, the running one included. */
export const PERIODS = ['24h', '14d', '30d'] as const
export type Period = (typeof PERIODS)[number]
export const DEFAULT_PERIOD: Period = '14d'
