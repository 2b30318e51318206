import type { Secret } from '../../core/secret.ts'
import type { MailMessage } from '../messenger.ts'
import type { Sender } from '../sender.ts'

/**
 * A server that does not answer by then counts as down; mails are sent in the background, so nothing waits for this.
 */
const CONNECT_TIMEOUT_MS = 10_000
const SILENCE_TIMEOUT_MS = 20_000
const CONNECTIONS_MAX = 2

/** Mails over SMTP: plain text, no attachments, nothing read from files or addresses. Loaded only if configured. */
export async function openMailSender(smtpUrl: Secret, from: string): Promise<Sender<MailMessage>> {
  const { createTransport } = await import('nodemailer')
  const transport = createTransport(
    {
      url: smtpUrl.unwrap(),
      pool: true,
      maxConnections: CONNECTIONS_MAX,
      connectionTimeout: CONNECT_TIMEOUT_MS,
      greetingTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SILENCE_TIMEOUT_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from },
  )
  return {
    async send({ to, subject, text }) {
      // As an object, because a text would be read as a list of addresses.
      await transport.sendMail({ to: { name: '', address: to }, subject, text })
    },
    async verify() {
      await transport.verify()
    },
    close() {
      transport.close()
      return Promise.resolve()
    },
  }
}
