import type { Identity } from '../identity.ts'
import type { MessageText } from './message-texts.ts'
import type { Account } from '../../../storage/stores/accounts.ts'

/**
 * Mails the account's owner, after the answer; does nothing if there is no address or if mails go to the operator's
 * log.
 */
export function notifyOwner(
  { messenger, background }: Identity,
  { email }: Pick<Account, 'email'>,
  message: MessageText,
): void {
  if (email === undefined || !messenger.leaves('email')) return
  background.track(messenger.send({ channel: 'email', to: email, ...message }), 'tell an account’s owner')
}
