/**
 * Verification codes: six digits sent to an address or a number, to prove that the recipient can read messages there.
 */
import { randomInt } from 'node:crypto'
import type { AccountId } from '../../core/ids.ts'
import { Secret } from '../../core/secret.ts'
import type { Message } from '../../notify/messenger.ts'
import type { CodePurpose } from '../../storage/stores/identity.ts'
import { type Contact, loginOf } from './contact.ts'
import type { Identity, TooMany } from './identity.ts'
import { codeBuckets, type From, placeOf } from './limits.ts'
import { ALREADY_REGISTERED, codeLine, codeText } from './messages/message-texts.ts'
import { mayRegister, mayRegisterBy } from './may-register.ts'
import { placeOfAccount } from './sign-in.ts'
import { mayBeTexted, takeText, type TextAsker, textWaitMs } from './messages/text-messages.ts'
import type { Account } from '../../storage/stores/accounts.ts'

/** 6 digits, 10 minutes, 5 attempts (docs/reference/contract.md#D-accounts-05, #D-accounts-06, #D-accounts-07). */
const DIGITS = 6
const LIFE_MS = 600_000
const TRIES = 5
/**
 * Attempts from another network than the one that requested the code, for example after a Wi-Fi failure. Two attempts
 * always remain for the requesting network.
 */
const TRIES_ELSEWHERE = 3

export interface CodeRequest {
  readonly contact: Contact
  readonly purpose: CodePurpose
  /** The signed-in account; a change of address belongs to one account. */
  readonly accountId: AccountId | undefined
}

export type CodeOutcome =
  | { readonly kind: 'accepted'; readonly endsAt: number }
  /** Registration is closed, or not possible over this channel. */
  | { readonly kind: 'closed' }
  /** Numbers of that country or kind get no messages. */
  | { readonly kind: 'not-texted' }
  | TooMany

/**
 * The same answer and the same work whether or not the address has an account: a code is always created and stored, and
 * a message, if any, is sent after the answer. Earlier codes remain valid, so that requests by others cannot invalidate
 * them.
 */
export async function requestCode(
  identity: Identity,
  request: CodeRequest,
  address: string,
): Promise<CodeOutcome> {
  const { contact, purpose, accountId } = request
  const at = identity.now()
  const { accounts, identity: store } = identity.storage
  if (purpose === 'register' && !mayRegisterBy(identity, contact.channel)) {
    identity.security.note('registration.refused', { address, channel: contact.channel })
    return { kind: 'closed' }
  }
  if (contact.channel === 'phone' && !mayBeTexted(contact.target, identity.textMessages)) {
    identity.security.note('message.refused', { address, why: 'number' })
    return { kind: 'not-texted' }
  }
  const account = await accounts.findByLogin(loginOf(contact))
  const from = await placeOfAccount(identity, account, address)
  const waitMs =
    (await store.attempts.take(codeBuckets(contact, address, from), at)) ??
    (contact.channel === 'phone' ? await textWaitMs(identity, askedBy(purpose, from)) : undefined)
  if (waitMs !== undefined) {
    identity.security.note('code.limited', { address, account: account?.id, purpose })
    return { kind: 'too-many', retryAfterMs: waitMs }
  }
  const code = randomInt(10 ** DIGITS)
    .toString()
    .padStart(DIGITS, '0')
  const endsAt = at + LIFE_MS
  await store.codes.put({ purpose, target: contact.target, accountId }, new Secret(code), {
    place: placeOf(address),
    tries: TRIES,
    triesElsewhere: TRIES_ELSEWHERE,
    createdAt: at,
    endsAt,
  })
  identity.background.track(send(identity, request, { code, account, from }), 'send a code')
  return { kind: 'accepted', endsAt }
}

/** Requests of unknown people may use the smallest share of the budget for text messages. */
function askedBy(purpose: CodePurpose, from: From): TextAsker {
  if (!wantsAccount(purpose)) return 'stranger'
  return from === 'known-place' ? 'known-place' : 'account'
}

/** Sent after the answer, so that its duration reveals nothing. */
async function send(
  identity: Identity,
  { contact, purpose }: CodeRequest,
  facts: { readonly code: string; readonly account: Account | undefined; readonly from: From },
): Promise<void> {
  const message = messageFor(contact, { purpose, ...facts })
  if (message === undefined) return
  if (purpose === 'register' && !(await mayRegister(identity, contact))) return
  if (message.channel === 'phone' && !(await takeText(identity, askedBy(purpose, facts.from)))) return
  await identity.messenger.send(message)
}

/** undefined: nothing is sent, because the code would be of no use. */
function messageFor(
  { channel, target: to }: Contact,
  facts: { readonly purpose: CodePurpose; readonly code: string; readonly account: Account | undefined },
): Message | undefined {
  const { purpose, code, account } = facts
  if (wantsAccount(purpose) !== (account !== undefined)) {
    // Only the recipient learns that there is an account.
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
