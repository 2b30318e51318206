/**
 * Limits of sign-in attempts. Every bucket leaks (core/identity/attempt-bucket.ts), so nobody is locked out
 * permanently; and attempts from networks where the account has signed in before are counted apart from guesses
 * elsewhere.
 */
import { DAY_MS, HOUR_MS, QUARTER_HOUR_MS } from '../../core/durations.ts'
import ipaddr from 'ipaddr.js'
import type { AttemptBucket } from '../../core/identity/attempt-bucket.ts'
import type { Contact } from './contact.ts'

/**
 * Wrong proofs for one account from one network, for one account from new networks, and for all accounts from one
 * network.
 */
const PAIR_TRIES = 10
const TARGET_TRIES = 20
const PLACE_TRIES = 60
/**
 * Six digits, thirty seconds, three codes valid at a time: at ten attempts per quarter of an hour, guessing one takes
 * about a year on average.
 */
const FACTOR_TRIES = 10
/**
 * Messages cost money and annoy people: limits for one contact from one network, for one contact from new networks, and
 * from one network.
 */
const CODES_PER_PAIR = 5
const CODES_PER_TARGET = 10
const CODES_PER_PLACE = 30
/** Mails to one contact per day, and text messages requested from one network. */
const MAILS_PER_TARGET_DAY = 30
const TEXTS_PER_TARGET_DAY = 10
const TEXTS_PER_PLACE_DAY = 20

export type From = 'known-place' | 'new-place'

export interface SignInBuckets {
  /** Emptied after a correct proof. */
  readonly pair: AttemptBucket
  /** A correct proof gives back one attempt; it is not emptied, or an attacker could empty it with an own account. */
  readonly shared: readonly AttemptBucket[]
}

/** @param target the login tried, in canonical form */
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
 * Attempts to redeem a code. Each code has its own attempts, which other networks cannot use up, so guesses are limited
 * by the number of codes sent; a shared bucket would only allow strangers to fill it.
 */
export function codeTryBuckets(target: string, address: string): SignInBuckets {
  const { pair, shared } = signInBuckets(target, address, 'known-place')
  return { pair, shared }
}

/**
 * Requests for codes. From a network where the account has signed in before, only the account's own bucket for that
 * network counts: its owner gets a code whatever strangers elsewhere, or others in the same network, request.
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

/** For one account, wherever the attempt comes from: the first factor was correct. */
export function factorBucket(account: string): AttemptBucket {
  return { subject: `second-factor/${account}`, limit: FACTOR_TRIES, windowMs: QUARTER_HOUR_MS }
}

/** Limits challenges that can be created without signing in, since they are stored until they end. */
export function questionBucket(address: string): AttemptBucket {
  return { subject: `question/place/${placeOf(address)}`, limit: PLACE_TRIES, windowMs: QUARTER_HOUR_MS }
}

/** An IPv6 subscriber has 2^64 addresses, so the network counts. */
export function placeOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address
  const parts = ipaddr.IPv6.parse(address).parts.slice(0, 4)
  return `${parts.map((part) => part.toString(16)).join(':')}::/64`
}
