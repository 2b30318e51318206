/** The module's interface: a message to a person, by mail or to a phone. */
export type Message = MailMessage | PhoneMessage

export interface MailMessage {
  readonly channel: 'email'
  readonly to: string
  readonly subject: string
  readonly text: string
}

export interface PhoneMessage {
  readonly channel: 'phone'
  /** E.164. */
  readonly to: string
  readonly text: string
  /** The verification code in the text, for services that fill it into a template of their own. */
  readonly code: string
}

export interface Messenger {
  /** Rejects if the message was not accepted. */
  send(message: Message): Promise<void>
  /** Whether messages are sent over this channel; otherwise they are printed to the operator's log. */
  leaves(channel: Message['channel']): boolean
  close(): Promise<void>
}
