/** Phone numbers in the one form accounts are found by, wherever they come in. */
import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/min'

/**
 * E.164, whatever blanks, brackets and digits of other scripts it was written with; undefined: no number of this earth.
 * Possible is enough: whether somebody has the number is shown by the code sent there.
 * @param phoneRegion the country of numbers written without one, ISO 3166 (`SLUICE_PHONE_REGION`)
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
