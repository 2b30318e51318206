/** Chooses how messages are sent: as configured, otherwise to the operator's log. */
import { createLogSender } from './log-sender.ts'
import { openMailSender } from './mail/smtp.ts'
import type { MailMessage, Messenger, PhoneMessage } from './messenger.ts'
import { openPhoneSender } from './sms/open-phone-sender.ts'
import type { MessengerOptions, Sender } from './sender.ts'

export interface OpenedMessenger extends Messenger {
  /** Checks that the mail server accepts the sign-in; rejects otherwise. Other channels are not checked. */
  verify(): Promise<void>
}

/** Messages of unconfigured channels go to the log. Throws if no driver accepts a configured address. */
export async function openMessenger(options: MessengerOptions): Promise<OpenedMessenger> {
  const { smtpUrl, mailFrom, smsUrl, log } = options
  const mail: Sender<MailMessage> | undefined =
    smtpUrl === undefined || mailFrom === undefined ? undefined : await openMailSender(smtpUrl, mailFrom)
  const phone: Sender<PhoneMessage> | undefined =
    smsUrl === undefined ? undefined : openPhoneSender(smsUrl, options)
  const printed = createLogSender(log)
  return {
    send: (message) =>
      message.channel === 'email' ? (mail ?? printed).send(message) : (phone ?? printed).send(message),
    leaves: (channel) => (channel === 'email' ? mail : phone) !== undefined,
    async verify() {
      await mail?.verify?.()
    },
    async close() {
      await mail?.close()
      await phone?.close()
    },
  }
}
