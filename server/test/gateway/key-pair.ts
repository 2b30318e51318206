import { vendorCode } from '../../src/core/ids.ts'
import { UNLIMITED } from '../../src/core/limits/policy.ts'
import { Secret } from '../../src/core/secret.ts'
import type { CatalogueChange } from '../../src/storage/stores/records.ts'

/** The credential `main` of a vendor that signs with a pair of keys, in place of the one that comes with it. */
export function keyPair(code: string): CatalogueChange {
  return {
    kind: 'put-credential',
    vendorCode: vendorCode(code),
    name: 'main',
    secret: {
      secret: undefined,
      fields: { access_key: new Secret(`access-of-${code}`), secret_key: new Secret(`secret-of-${code}`) },
    },
    limits: UNLIMITED,
    status: 'enabled',
  }
}
