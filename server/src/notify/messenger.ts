/** The module's face: a message to a person, by mail or to a phone. */
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
  /** Rejects when the message was not taken. */
  send(message: Message): Promise<void>
  /** Whether messages leave by this channel; else they are printed to the operator's log. */
  leaves(channel: Message['channel']): boolean
  close(): Promise<void>
}
