/** Shown at start, in metrics and by `sluice --version`; the same as in package.json (a check holds them together). */
export const VERSION = '0.1.0'
