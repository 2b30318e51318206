/** An e-mail address or a phone number, entered in one field. */
export type Contact =
  | { readonly channel: 'email'; readonly target: string }
  | { readonly channel: 'phone'; readonly target: string }

/** undefined: neither. This only tells the two apart; the gateway validates them. */
export function readContact(text: string): Contact | undefined {
  const target = text.trim()
  if (target.includes('@')) return { channel: 'email', target }
  return /^\+?[\d\s().-]{5,}$/.test(target) ? { channel: 'phone', target } : undefined
}

/** The contact as a field of a request body. */
export function contactField({ channel, target }: Contact): { email: string } | { phone: string } {
  return channel === 'email' ? { email: target } : { phone: target }
}
