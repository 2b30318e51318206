/** Chooses how messages leave: by what is configured, else by the operator's log. */
import { createLogSender } from './log-sender.ts'
import { openMailSender } from './mail/smtp.ts'
import type { MailMessage, Messenger, PhoneMessage } from './messenger.ts'
import { openPhoneSender } from './sms/open-phone-sender.ts'
import type { MessengerOptions, Sender } from './sender.ts'

export interface OpenedMessenger extends Messenger {
  /** Asks the mail server whether it would take mails from us; rejects when not. Nothing is asked elsewhere. */
  verify(): Promise<void>
}

/** What has no way out ends in the log. Throws when an address is configured that no driver takes. */
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
