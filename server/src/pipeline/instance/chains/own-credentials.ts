/** What a customer's own credential may contain. */
import { say, type Sentence } from '../../../core/sentences/say.ts'
import type { Catalogue, CredentialSecret } from '../../../core/catalogue.ts'
import type { VendorCode } from '../../../core/ids.ts'
import { providerOf } from '../../../providers/index.ts'
import { findMisplacedField, holdsKey } from '../../../upstream/credentials/auth.ts'

/** Why a customer's own credential is not valid for a vendor, and the field at fault; undefined: it is valid. */
export function findOwnCredentialMistake(
  { vendors, credentials }: Pick<Catalogue, 'vendors' | 'credentials'>,
  { vendor, credential }: { readonly vendor: VendorCode; readonly credential: CredentialSecret },
): { readonly field: string; readonly message: Sentence } | undefined {
  const kind = vendors.get(vendor)?.kind
  const provider = kind === undefined ? undefined : providerOf(kind)
  if (provider === undefined) return undefined
  const { publicFields } = provider
  const platforms = [...credentials.values()].filter(({ vendorCode }) => vendorCode === vendor)
  const keyless = platforms.length > 0 && !platforms.some(({ secret }) => holdsKey(secret, publicFields))
  if (provider.ownServer === true || keyless)
    return { field: 'vendor', message: say('vendor-takes-no-own-key') }
  if (!holdsKey(credential, publicFields)) return { field: 'secret', message: say('must-hold-vendor-key') }
  const misplaced = findMisplacedField(credential, publicFields)
  return misplaced === undefined
    ? undefined
    : { field: `fields.${misplaced}`, message: say('not-part-of-an-address') }
}
