import { createHmac } from 'node:crypto'
import type { SmsDriver } from '../driver.ts'

/**
 * The operator's own endpoint, which passes messages on: `POST {"to", "text", "code"}`. The password of its address
 * signs each request: `x-sluice-signature` is the hex HMAC-SHA256 of `<x-sluice-timestamp>.<body>`.
 */
export const webhook: SmsDriver = {
  schemes: ['https:', 'http:'],
  open(url) {
    const secret = decodeURIComponent(url.password)
    const address = new URL(url)
    address.username = ''
    address.password = ''
    return {
      secret: undefined,
      auth: { kind: 'none' },
      form({ to, text, code }, { at }) {
        const body = JSON.stringify({ to, text, code })
        const signature = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')
        return {
          method: 'POST',
          url: address.href,
          headers: {
            'content-type': 'application/json',
            'x-sluice-timestamp': String(at),
            ...(secret === '' ? {} : { 'x-sluice-signature': signature }),
          },
          body,
        }
      },
      refusal: ({ status }) => (status >= 200 && status < 300 ? undefined : `status ${status}`),
    }
  },
}
