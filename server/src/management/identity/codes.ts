/** Verification codes: six digits sent to an address or a number, proof that whoever has them reads there. */
import { randomInt } from 'node:crypto'
import type { AccountId } from '../../core/ids.ts'
import { Secret } from '../../core/secret.ts'
import type { Message } from '../../notify/messenger.ts'
import type { CodePurpose } from '../../storage/identity.ts'
import type { Account } from '../../storage/storage.ts'
import { type Contact, loginOf } from './contact.ts'
import type { Identity, TooMany } from './identity.ts'
import { codeBuckets } from './limits.ts'
import { ALREADY_REGISTERED, codeLine, codeText } from './message-texts.ts'

/** Decisions, Accounts: 6 digits, 10 minutes, 5 tries. */
const DIGITS = 6
const LIFE_MS = 600_000
const TRIES = 5

export interface CodeRequest {
  readonly contact: Contact
  readonly purpose: CodePurpose
  /** Who is signed in; a change of address belongs to one account. */
  readonly accountId: AccountId | undefined
}

/**
 * The same answer and the same work whether or not the address has an account: a code is made and stored in any case, and
 * what is sent, if anything, is sent after the answer.
 */
export async function requestCode(
  identity: Identity,
  { contact, purpose, accountId }: CodeRequest,
  address: string,
): Promise<{ readonly kind: 'accepted'; readonly endsAt: number } | TooMany> {
  const at = identity.now()
  const { accounts, identity: store } = identity.storage
  const waitMs = await store.attempts.take(codeBuckets(contact.target, address), at)
  if (waitMs !== undefined) return { kind: 'too-many', retryAfterMs: waitMs }
  const account = await accounts.findByLogin(loginOf(contact))
  const code = randomInt(10 ** DIGITS)
    .toString()
    .padStart(DIGITS, '0')
  const endsAt = at + LIFE_MS
  await store.codes.put({ purpose, target: contact.target, accountId }, new Secret(code), {
    tries: TRIES,
    createdAt: at,
    endsAt,
  })
  const message = messageFor(contact, { purpose, code, account })
  if (message !== undefined) identity.background.track(identity.messenger.send(message), 'send a code')
  return { kind: 'accepted', endsAt }
}

/** undefined: nothing is sent, because the code would open nothing. */
function messageFor(
  { channel, target: to }: Contact,
  facts: { readonly purpose: CodePurpose; readonly code: string; readonly account: Account | undefined },
): Message | undefined {
  const { purpose, code, account } = facts
  if (wantsAccount(purpose) !== (account !== undefined)) {
    // Only who reads there learns that there is an account.
    const isTaken = account !== undefined && channel === 'email'
    return isTaken ? { channel, to, ...ALREADY_REGISTERED } : undefined
  }
  return channel === 'email'
    ? { channel, to, ...codeText(purpose, code) }
    : { channel, to, text: codeLine(code), code }
}

function wantsAccount(purpose: CodePurpose): boolean {
  switch (purpose) {
    case 'sign_in':
    case 'reset_password':
      return true
    case 'register':
    case 'change_email':
    case 'change_phone':
      return false
  }
}
