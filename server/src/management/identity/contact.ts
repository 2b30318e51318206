/** Where somebody can be reached, in the one form accounts are found by. */
import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/min'
import { normalEmail } from '../../core/identity/email-address.ts'

export interface Contact {
  readonly channel: 'email' | 'phone'
  /** A normal e-mail address, or a number in E.164. */
  readonly target: string
}

/** undefined: it is no address, or no number of this earth. */
export function readContact(
  channel: Contact['channel'],
  text: string,
  phoneRegion: string | undefined,
): Contact | undefined {
  const target = channel === 'email' ? normalEmail(text) : normalPhone(text, phoneRegion)
  return target === undefined ? undefined : { channel, target }
}

/**
 * E.164, whatever blanks, brackets and digits of other scripts it was written with. Possible is enough: whether somebody
 * has the number is shown by the code sent there.
 */
export function normalPhone(text: string, phoneRegion: string | undefined): string | undefined {
  const region = regionOf(phoneRegion)
  const parsed = parsePhoneNumberFromString(text.normalize('NFKC').trim(), {
    extract: false,
    ...(region === undefined ? {} : { defaultCountry: region }),
  })
  return parsed?.isPossible() === true && parsed.ext === undefined ? parsed.number : undefined
}

function regionOf(text: string | undefined): CountryCode | undefined {
  return text !== undefined && isSupportedCountry(text) ? text : undefined
}

export function loginOf({
  channel,
  target,
}: Contact): { readonly email: string } | { readonly phone: string } {
  return channel === 'email' ? { email: target } : { phone: target }
}
