import { type PublicKeyCredentialCreationOptionsJSON, startRegistration } from '@simplewebauthn/browser'
import { client, dataOf } from '../../api/client.ts'

/** Has the browser make a passkey and adds it to the account; its session has to be fresh. */
export async function addPasskey(name: string) {
  const asked = await dataOf(client.POST('/api/v1/user/user/second-factors/passkeys/options'))
  // The document leaves open what the library at the other end has made for this one.
  const optionsJSON = asked.options as object as PublicKeyCredentialCreationOptionsJSON
  const response = await startRegistration({ optionsJSON })
  return dataOf(
    client.POST('/api/v1/user/user/second-factors/passkeys', {
      body: { challenge: asked.challenge, name, response: { ...response, clientExtensionResults: {} } },
    }),
  )
}
