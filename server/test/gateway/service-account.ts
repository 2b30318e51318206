/** A service account of Google Cloud, for upstreams that ask for a token before they are called. */
import { generateKeyPairSync } from 'node:crypto'
import { vendorCode } from '../../src/core/ids.ts'
import { UNLIMITED } from '../../src/core/limits/policy.ts'
import { Secret } from '../../src/core/secret.ts'
import type { CatalogueChange } from '../../src/storage/stores/records.ts'
import { type Answerer, answerJson } from './scripted-upstream.ts'

/** Where tokens are granted, below the upstream's address. */
export const TOKEN = '/token'
/** Where its models of Google lie. */
export const GOOGLE_MODELS = '/projects/project/locations/region/publishers/google/models'

const granted = answerJson({ access_token: 'ya29.one', expires_in: 3_600 })

/** The credential `main` of the vendor `vertex`, whose tokens are granted by the upstream at `address`. */
export function serviceAccount(address: string): CatalogueChange {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const file = {
    client_email: 'gateway@project.example',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    token_uri: `${address}${TOKEN}`,
  }
  const fields = { project: new Secret('project'), region: new Secret('region') }
  return {
    kind: 'put-credential',
    vendorCode: vendorCode('vertex'),
    name: 'main',
    secret: { secret: new Secret(JSON.stringify(file)), fields },
    limits: UNLIMITED,
    status: 'enabled',
  }
}

/** The same answers, behind a token that is granted to whoever asks. */
export function grantingTokens(answerer: Answerer): Answerer {
  return (request, response) => (request.path === TOKEN ? granted : answerer)(request, response)
}
