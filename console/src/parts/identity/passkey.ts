import { type PublicKeyCredentialCreationOptionsJSON, startRegistration } from '@simplewebauthn/browser'
import { client, dataOf } from '../../api/client.ts'

/** Creates a passkey and adds it to the account; needs a session that has just begun. */
export async function addPasskey(name: string) {
  const asked = await dataOf(client.POST('/api/v1/user/user/second-factors/passkeys/options'))
  // The OpenAPI document leaves the options untyped; the server's library made them for this one.
  const optionsJSON = asked.options as object as PublicKeyCredentialCreationOptionsJSON
  const response = await startRegistration({ optionsJSON })
  return dataOf(
    client.POST('/api/v1/user/user/second-factors/passkeys', {
      body: { challenge: asked.challenge, name, response: { ...response, clientExtensionResults: {} } },
    }),
  )
}
