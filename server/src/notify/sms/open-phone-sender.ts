import { randomUUID } from 'node:crypto'
import type { Secret } from '../../core/secret.ts'
import { readWhole } from '../../upstream/remote/read-answer.ts'
import type { PhoneMessage } from '../messenger.ts'
import { smsDrivers } from './index.ts'
import type { MessengerOptions, Sender } from '../sender.ts'

const TIMEOUT_MS = 10_000
const TIMEOUTS = { connectMs: TIMEOUT_MS, firstByteMs: TIMEOUT_MS, idleMs: TIMEOUT_MS }
/** Services answer with a few hundred bytes. */
const ANSWER_BYTES_MAX = 65_536

/** Messages to phones, through the driver for the address's scheme. */
export function openPhoneSender(
  smsUrl: Secret,
  { upstream, now }: Pick<MessengerOptions, 'upstream' | 'now'>,
): Sender<PhoneMessage> {
  const url = new URL(smsUrl.unwrap())
  const driver = smsDrivers.find(({ schemes }) => schemes.includes(url.protocol))
  if (driver === undefined) throw new Error(`SLUICE_SMS_URL has an unknown scheme: ${url.protocol}`)
  const service = driver.open(url)
  return {
    async send(message) {
      const { body = '', ...request } = service.form(message, { at: now(), nonce: randomUUID() })
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      const answer = await readWhole(
        upstream.open,
        {
          request,
          auth: service.auth,
          credential: { secret: service.secret, fields: {} },
          body: [bytes],
          bodyLength: bytes.byteLength,
          timeouts: TIMEOUTS,
        },
        ANSWER_BYTES_MAX,
      )
      const refusal = service.refusal({ status: answer.status, body: answer.body.toString('utf8') })
      if (refusal !== undefined) throw new Error(`the SMS service did not take a message: ${refusal}`)
    },
    close: () => Promise.resolve(),
  }
}
