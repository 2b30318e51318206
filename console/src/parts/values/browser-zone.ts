/** The browser's time zone, for people who have not chosen one. */
export function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}
