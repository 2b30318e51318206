/**
 * How often somebody may try. Every bucket leaks (core/identity/attempt-bucket.ts), so nobody is shut out for good; and
 * whoever comes from where the account has signed in before does not stand in the queue of those who guess elsewhere.
 */
import { DAY_MS, HOUR_MS, QUARTER_HOUR_MS } from '../../core/durations.ts'
import ipaddr from 'ipaddr.js'
import type { AttemptBucket } from '../../core/identity/attempt-bucket.ts'
import type { Contact } from './contact.ts'

/** Wrong proofs of one person from one place, of one person from new places, and of anybody from one place. */
const PAIR_TRIES = 10
const TARGET_TRIES = 20
const PLACE_TRIES = 60
/** Six digits, thirty seconds, three of them right at a time: ten tries a quarter of an hour guess one in a century. */
const FACTOR_TRIES = 10
/** Messages cost money and patience: of one person from one place, of one person from new places, from one place. */
const CODES_PER_PAIR = 5
const CODES_PER_TARGET = 10
const CODES_PER_PLACE = 30
/** What one person is sent in a day, and texts that one place asks for. */
const MAILS_PER_TARGET_DAY = 30
const TEXTS_PER_TARGET_DAY = 10
const TEXTS_PER_PLACE_DAY = 20

export type From = 'known-place' | 'new-place'

export interface SignInBuckets {
  /** Emptied by a right proof. */
  readonly pair: AttemptBucket
  /** Given back by a right proof; not emptied, or an attacker's own account would empty it. */
  readonly shared: readonly AttemptBucket[]
}

/** @param target the login tried, in its one form */
export function signInBuckets(target: string, address: string, from: From): SignInBuckets {
  const place = placeOf(address)
  const everywhere: AttemptBucket = {
    subject: `sign-in/target/${target}`,
    limit: TARGET_TRIES,
    windowMs: QUARTER_HOUR_MS,
  }
  return {
    pair: { subject: `sign-in/pair/${target}/${place}`, limit: PAIR_TRIES, windowMs: QUARTER_HOUR_MS },
    shared: [
      { subject: `sign-in/place/${place}`, limit: PLACE_TRIES, windowMs: QUARTER_HOUR_MS },
      ...(from === 'new-place' ? [everywhere] : []),
    ],
  }
}

/**
 * Tries of a code. A code has its own tries, of which those from elsewhere cannot take all, so guesses of one person's codes
 * are bounded by how many codes are sent; a bucket of everybody's tries would only let a stranger fill it.
 */
export function codeTryBuckets(target: string, address: string): SignInBuckets {
  const { pair, shared } = signInBuckets(target, address, 'known-place')
  return { pair, shared }
}

/**
 * Codes that are asked for. From where the account has signed in before, the account's own bucket for that place alone
 * counts: whatever strangers ask for elsewhere, and whatever others in the same network ask for themselves, its owner is
 * sent a code.
 */
export function codeBuckets(
  { channel, target }: Contact,
  address: string,
  from: From,
): readonly AttemptBucket[] {
  const place = placeOf(address)
  const texts = channel === 'phone'
  const pair = { subject: `code/pair/${target}/${place}`, limit: CODES_PER_PAIR, windowMs: HOUR_MS }
  const perDay = texts ? TEXTS_PER_TARGET_DAY : MAILS_PER_TARGET_DAY
  if (from === 'known-place') {
    return [pair, { subject: `code/pair-day/${target}/${place}`, limit: perDay, windowMs: DAY_MS }]
  }
  return [
    pair,
    { subject: `code/target/${target}`, limit: CODES_PER_TARGET, windowMs: HOUR_MS },
    { subject: `code/target-day/${target}`, limit: perDay, windowMs: DAY_MS },
    { subject: `code/place/${place}`, limit: CODES_PER_PLACE, windowMs: HOUR_MS },
    ...(texts ? [{ subject: `text/place-day/${place}`, limit: TEXTS_PER_PLACE_DAY, windowMs: DAY_MS }] : []),
  ]
}

/** Of one account, whoever tries: that person has shown the first factor. */
export function factorBucket(account: string): AttemptBucket {
  return { subject: `second-factor/${account}`, limit: FACTOR_TRIES, windowMs: QUARTER_HOUR_MS }
}

/** Questions anybody may have asked are stored until they end. */
export function questionBucket(address: string): AttemptBucket {
  return { subject: `question/place/${placeOf(address)}`, limit: PLACE_TRIES, windowMs: QUARTER_HOUR_MS }
}

/** An IPv6 subscriber has 2^64 addresses: the network is the place. */
export function placeOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address
  const parts = ipaddr.IPv6.parse(address).parts.slice(0, 4)
  return `${parts.map((part) => part.toString(16)).join(':')}::/64`
}
