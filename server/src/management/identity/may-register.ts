/** Who may make an account by themselves (`SLUICE_REGISTRATION`), at every way in. */
import type { Contact } from './contact.ts'
import type { Identity } from './identity.ts'

type Rules = Pick<Identity, 'storage' | 'registration' | 'now'>

/** What holds whatever the address: invitations go to e-mail addresses. */
export function mayRegisterBy(
  { registration }: Pick<Rules, 'registration'>,
  channel: Contact['channel'],
): boolean {
  return registration === 'open' || (registration === 'invited' && channel === 'email')
}

/** @param contact undefined: somebody without an address we may believe, as another service may send them */
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
