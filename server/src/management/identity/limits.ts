/**
 * How often somebody may try. Every bucket leaks (core/identity/attempt-bucket.ts), so nobody is shut out for good; and
 * whoever comes from where the account has signed in before does not stand in the queue of those who guess elsewhere.
 */
import ipaddr from 'ipaddr.js'
import type { AttemptBucket } from '../../core/identity/attempt-bucket.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const QUARTER_HOUR_MS = 15 * MINUTE_MS

/** Wrong proofs of one person from one place, of one person from new places, and of anybody from one place. */
const PAIR_TRIES = 10
const TARGET_TRIES = 20
const PLACE_TRIES = 60
/** Six digits, thirty seconds, three of them right at a time: ten tries a quarter of an hour guess one in a century. */
const FACTOR_TRIES = 10
/** Messages cost money and patience. */
const CODES_PER_TARGET = 5
const CODES_PER_PLACE = 30

export interface SignInBuckets {
  /** Emptied by a right proof. */
  readonly pair: AttemptBucket
  /** Given back by a right proof; not emptied, or an attacker's own account would empty it. */
  readonly shared: readonly AttemptBucket[]
}

/** @param target the login tried, in its one form */
export function signInBuckets(
  target: string,
  address: string,
  from: 'known-place' | 'new-place',
): SignInBuckets {
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

export function codeBuckets(target: string, address: string): readonly AttemptBucket[] {
  return [
    { subject: `code/target/${target}`, limit: CODES_PER_TARGET, windowMs: HOUR_MS },
    { subject: `code/place/${placeOf(address)}`, limit: CODES_PER_PLACE, windowMs: HOUR_MS },
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
