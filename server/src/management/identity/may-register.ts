/** Who may register (`SLUICE_REGISTRATION`), for every sign-in method. */
import type { Contact } from './contact.ts'
import type { Identity } from './identity.ts'

type Rules = Pick<Identity, 'storage' | 'registration' | 'now'>

/** Checks that do not depend on the address: invitations are sent to e-mail addresses. */
export function mayRegisterBy(
  { registration }: Pick<Rules, 'registration'>,
  channel: Contact['channel'],
): boolean {
  return registration === 'open' || (registration === 'invited' && channel === 'email')
}

/** @param contact undefined: there is no verified address, as with some other services */
export async function mayRegister(
  { storage, registration, now }: Rules,
  contact: Contact | undefined,
): Promise<boolean> {
  switch (registration) {
    case 'open':
      return true
    case 'closed':
      return false
    case 'invited':
      return contact?.channel === 'email' && storage.organisations.isInvited(contact.target, now())
  }
}
