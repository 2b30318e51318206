/** Sign-in: a proof of identity, exchanged for a session, or for a request for the second factor. */
import { Secret } from '../../core/secret.ts'
import { accountId } from '../../core/ids.ts'
import type { SignInMethod } from '../../storage/stores/identity.ts'
import { hashPassword, verifyPassword } from '../accounts/passwords.ts'
import { type Contact, loginOf } from './contact.ts'
import { type FactorKind, listFactors } from './factors/factors.ts'
import type { Guarded, Identity, TooMany } from './identity.ts'
import { codeTryBuckets, type From, placeOf, type SignInBuckets, signInBuckets } from './limits.ts'
import { actorAt, ownAct } from './own-act.ts'
import { openSession, type OpenedSession, type RequestOrigin } from './sessions/sessions.ts'
import { CHALLENGE_TOKEN_PREFIX, hashToken, makeToken } from './sessions/tokens.ts'
import type { Account } from '../../storage/stores/accounts.ts'

export type SignedIn =
  | { readonly kind: 'signed-in'; readonly opened: OpenedSession; readonly account: Account }
  /** The first factor was right; the client continues with `answerSecondFactor`. */
  | {
      readonly kind: 'second-factor'
      readonly challenge: Secret
      readonly factors: readonly FactorKind[]
      readonly endsAt: number
    }
  /** Only revealed to the proven owner. */
  | { readonly kind: 'suspended' }

/** `refused`: no such account, or a wrong proof; not revealed which. */
export type SignIn = SignedIn | { readonly kind: 'refused' } | TooMany

/** Time for a person to find their phone. */
const SECOND_FACTOR_MS = 600_000
const SECOND_FACTOR_TRIES = 5
/** A network stays known as long as a session may last. */
const PLACE_MS = 90 * 86_400_000

export function signInByPassword(
  identity: Identity,
  attempt: { readonly contact: Contact; readonly password: Secret },
  origin: RequestOrigin,
): Promise<SignIn> {
  return prove(identity, attempt.contact, origin, {
    method: 'password',
    isRight: (account) => hasPassword(account, attempt.password),
  })
}

export function signInByCode(
  identity: Identity,
  attempt: { readonly contact: Contact; readonly code: Secret },
  origin: RequestOrigin,
): Promise<SignIn> {
  const use = { purpose: 'sign_in', target: attempt.contact.target, accountId: undefined } as const
  return prove(identity, attempt.contact, origin, {
    method: 'code',
    isRight: () => identity.storage.identity.codes.redeem(use, attempt.code, comingFrom(identity, origin)),
  })
}

interface Proof {
  readonly method: GuardedTry['method']
  isRight(account: Account | undefined): Promise<boolean>
}

/**
 * The attempt is taken before the proof is checked, so that parallel guesses are counted; a correct one is given back.
 */
async function prove(
  identity: Identity,
  contact: Contact,
  origin: RequestOrigin,
  proof: Proof,
): Promise<SignIn> {
  const account = await identity.storage.accounts.findByLogin(loginOf(contact))
  const { method } = proof
  const guarded = await guardTries(identity, { contact, account, address: origin.address, method }, () =>
    proof.isRight(account),
  )
  if (guarded.kind === 'too-many') return guarded
  if (guarded.kind === 'wrong' || account === undefined) return { kind: 'refused' }
  return enter(identity, account, { ...origin, method })
}

export interface GuardedTry {
  readonly contact: Contact
  readonly account: Account | undefined
  readonly address: string
  readonly method: 'password' | 'code'
}

/** The origin of an attempt, in terms of codes. */
export function comingFrom(
  { now }: Pick<Identity, 'now'>,
  { address }: Pick<RequestOrigin, 'address'>,
): { readonly place: string; readonly at: number } {
  return { place: placeOf(address), at: now() }
}

/** Counts an attempt to prove the ownership of a contact. */
export async function guardTries(
  identity: Identity,
  { contact, account, address, method }: GuardedTry,
  isRight: () => Promise<boolean>,
): Promise<Guarded> {
  const { security } = identity
  const about = { account: account?.id, address, method }
  const buckets =
    method === 'code'
      ? codeTryBuckets(contact.target, address)
      : signInBuckets(contact.target, address, await placeOfAccount(identity, account, address))
  const waitMs = await identity.storage.identity.attempts.take(
    [buckets.pair, ...buckets.shared],
    identity.now(),
  )
  if (waitMs !== undefined) {
    security.note('sign-in.limited', about)
    return { kind: 'too-many', retryAfterMs: waitMs }
  }
  if (!(await isRight())) {
    security.note('sign-in.failed', about)
    return { kind: 'wrong' }
  }
  await forgive(identity, buckets)
  return { kind: 'right' }
}

async function forgive({ storage }: Identity, { pair, shared }: SignInBuckets): Promise<void> {
  await storage.identity.attempts.giveBack(shared)
  await storage.identity.attempts.forget([pair.subject])
}

/** No account has this id: it is looked up if there is no account, so that the answer takes equally long. */
const NOBODY = accountId('nobody')

export async function placeOfAccount(
  { storage, now }: Identity,
  account: Account | undefined,
  address: string,
): Promise<From> {
  const { sessions } = storage.identity
  const isKnown = await sessions.knowsPlace(account?.id ?? NOBODY, placeOf(address), now() - PLACE_MS)
  return isKnown ? 'known-place' : 'new-place'
}

export interface Entering extends RequestOrigin {
  readonly method: SignInMethod
}

/** After the first factor. A passkey counts as two: the device, and what unlocks it. */
export async function enter(identity: Identity, account: Account, entering: Entering): Promise<SignedIn> {
  if (account.status === 'suspended') return { kind: 'suspended' }
  const factors = entering.method === 'passkey' ? [] : await listFactors(identity, account.id)
  return factors.length === 0
    ? begin(identity, account, { ...entering, secondFactor: entering.method === 'passkey' })
    : askSecondFactor(identity, account, { ...entering, factors })
}

/** After all required factors. */
export async function begin(
  identity: Identity,
  account: Account,
  entering: Entering & { readonly secondFactor: boolean },
): Promise<SignedIn> {
  const { method, secondFactor, address } = entering
  const request = { ...entering, accountId: account.id }
  const actor = actorAt(account, entering, undefined)
  const opened = await ownAct(identity, { account, actor }, async (within) => {
    const value = await openSession(within.storage, request, identity.now())
    const changes = [
      { field: 'session', from: null, to: value.session.id },
      { field: 'method', from: null, to: method },
      { field: 'second_factor', from: null, to: secondFactor },
    ]
    return { value, action: 'account.sign-in', changes }
  })
  identity.security.note('sign-in.succeeded', {
    account: account.id,
    address,
    method,
    second_factor: secondFactor,
    session: opened.session.id,
  })
  return { kind: 'signed-in', opened, account }
}

async function askSecondFactor(
  identity: Identity,
  account: Account,
  { method, factors }: Entering & { readonly factors: readonly FactorKind[] },
): Promise<SignedIn> {
  const challenge = makeToken(CHALLENGE_TOKEN_PREFIX)
  const at = identity.now()
  const endsAt = at + SECOND_FACTOR_MS
  await identity.storage.identity.challenges.put(hashToken(challenge.unwrap()), {
    kind: 'second-factor',
    accountId: account.id,
    detail: JSON.stringify({ method }),
    triesLeft: SECOND_FACTOR_TRIES,
    createdAt: at,
    endsAt,
  })
  return { kind: 'second-factor', challenge, factors, endsAt }
}

/**
 * Takes equally long for accounts that do not exist or have no password.
 * @param verify hashes the password with the stored parameters, and compares
 */
export async function hasPassword(
  account: Pick<Account, 'passwordHash'> | undefined,
  password: Secret,
  verify: typeof verifyPassword = verifyPassword,
): Promise<boolean> {
  const passwordHash = account?.passwordHash
  if (passwordHash !== undefined) return verify(passwordHash, password)
  await verify(await unknownPasswordHash(), password)
  return false
}

let nobody: Promise<string> | undefined

/** A hash of the usual cost, used for accounts that do not exist. */
function unknownPasswordHash(): Promise<string> {
  nobody ??= hashPassword(new Secret('nobody has this password'))
  return nobody
}
