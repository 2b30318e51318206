/** The time zone of whoever has not chosen another one. */
export function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}
