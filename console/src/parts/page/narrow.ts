/** Whether the page was opened on a screen as narrow as a phone's; the styles have the same width. */
export const IS_NARROW = globalThis.matchMedia('(max-width: 720px)').matches
