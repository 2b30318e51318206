/** Phone numbers in the canonical form by which accounts are found. */
import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/min'

/**
 * E.164, from any notation with blanks, brackets or digits of other scripts; undefined: not a possible number. Possible
 * is enough, because the code sent there proves that the number exists.
 * @param phoneRegion the country of numbers without a country code, ISO 3166 (`SLUICE_PHONE_REGION`)
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
