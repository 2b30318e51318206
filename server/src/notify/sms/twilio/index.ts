import { Secret } from '../../../core/secret.ts'
import { endpointOf, requiredParameter, type SmsDriver, userOf } from '../driver.ts'

/** Twilio's Messages resource, 2010-04-01. `from` is a number, or a messaging service's id (`MG…`). */
export const twilio: SmsDriver = {
  schemes: ['twilio:'],
  open(url) {
    const { user, password } = userOf(url)
    const from = requiredParameter(url, 'from')
    const endpoint = endpointOf(url)
    return {
      secret: new Secret(Buffer.from(`${user}:${password}`).toString('base64')),
      auth: { kind: 'header', name: 'authorization', prefix: 'Basic ' },
      form: ({ to, text }) => ({
        method: 'POST',
        url: `${endpoint}/2010-04-01/Accounts/${encodeURIComponent(user)}/Messages.json`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          To: to,
          [from.startsWith('MG') ? 'MessagingServiceSid' : 'From']: from,
          Body: text,
        }).toString(),
      }),
      refusal: ({ status }) => (status === 201 ? undefined : `status ${status}`),
    }
  },
}
