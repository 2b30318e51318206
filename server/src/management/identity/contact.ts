/** An e-mail address or phone number in the canonical form by which accounts are found. */
import { normalPhone } from '../../config/phone-number.ts'
import { normalEmail } from '../../core/identity/email-address.ts'

export interface Contact {
  readonly channel: 'email' | 'phone'
  /** A normal e-mail address, or a number in E.164. */
  readonly target: string
}

/** undefined: not a valid address or number. */
export function readContact(
  channel: Contact['channel'],
  text: string,
  phoneRegion: string | undefined,
): Contact | undefined {
  const target = channel === 'email' ? normalEmail(text) : normalPhone(text, phoneRegion)
  return target === undefined ? undefined : { channel, target }
}

export function loginOf({
  channel,
  target,
}: Contact): { readonly email: string } | { readonly phone: string } {
  return channel === 'email' ? { email: target } : { phone: target }
}
