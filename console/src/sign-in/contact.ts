/** An e-mail address or a phone number, as one field takes it. */
export type Contact =
  | { readonly channel: 'email'; readonly target: string }
  | { readonly channel: 'phone'; readonly target: string }

/** undefined: it is neither. The gateway knows better; this only tells the two apart. */
export function readContact(text: string): Contact | undefined {
  const target = text.trim()
  if (target.includes('@')) return { channel: 'email', target }
  return /^\+?[\d\s().-]{5,}$/.test(target) ? { channel: 'phone', target } : undefined
}

/** The field of a request body that it stands in. */
export function contactField({ channel, target }: Contact): { email: string } | { phone: string } {
  return channel === 'email' ? { email: target } : { phone: target }
}
