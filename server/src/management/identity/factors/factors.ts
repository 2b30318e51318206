/** Second factors: those of an account, setting one up, and verifying one at sign-in. */
import { randomInt } from 'node:crypto'
import type { AccountId } from '../../../core/ids.ts'
import { Secret } from '../../../core/secret.ts'
import type { SignInMethod } from '../../../storage/stores/identity.ts'
import type { Guarded, Identity, TooMany } from '../identity.ts'
import { factorBucket } from '../limits.ts'
import { factorChangedText } from '../messages/message-texts.ts'
import { type OwnAct, ownAct } from '../own-act.ts'
import { notifyOwner } from '../messages/notify.ts'
import { hashToken } from '../sessions/tokens.ts'
import { findStep, makeSeed, seedAddress } from './totp.ts'
import type { Account } from '../../../storage/stores/accounts.ts'

export type FactorKind = 'totp' | 'passkey' | 'recovery_code'

const RECOVERY_CODES = 10
const RECOVERY_CHARACTERS = 12
/** Without letters and digits that are easily confused: 31^12 is 59 bits. */
const RECOVERY_ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz'

/** The factors that the account would be asked for; empty: none. Recovery codes replace a factor but are not one. */
export async function listFactors(
  { storage }: Pick<Identity, 'storage'>,
  account: AccountId,
): Promise<readonly FactorKind[]> {
  const { factors } = storage.identity
  const authenticator = await factors.findAuthenticator(account)
  const kinds: FactorKind[] = []
  if (authenticator?.confirmedAt !== undefined) kinds.push('totp')
  if ((await factors.listPasskeys(account)).length > 0) kinds.push('passkey')
  if (kinds.length > 0 && (await factors.countRecoveryCodes(account)) > 0) kinds.push('recovery_code')
  return kinds
}

export type AuthenticatorStart =
  | { readonly kind: 'started'; readonly seed: Secret; readonly address: string }
  | { readonly kind: 'exists' }

/** Creates a seed; it becomes active when a code proves that the app has it. */
export async function startAuthenticator(identity: Identity, account: Account): Promise<AuthenticatorStart> {
  const seed = makeSeed()
  if (!(await identity.storage.identity.factors.putAuthenticator(account.id, seed))) return { kind: 'exists' }
  const names = { issuer: 'Sluice', account: account.email ?? account.phone ?? account.id }
  return { kind: 'started', seed, address: seedAddress(seed, names) }
}

export type AuthenticatorConfirmation =
  /** `recoveryCodes`: shown once; empty if the account has some already. */
  | { readonly kind: 'confirmed'; readonly recoveryCodes: readonly Secret[] }
  | { readonly kind: 'wrong' }
  | TooMany

/** An act in a session of the account's owner. */
export interface OwnersAct extends OwnAct {
  readonly account: Account
  readonly sessionId: string
}

export async function confirmAuthenticator(
  identity: Identity,
  act: OwnersAct,
  code: string,
): Promise<AuthenticatorConfirmation> {
  const { account, sessionId } = act
  const at = identity.now()
  const found = await identity.storage.identity.factors.findAuthenticator(account.id)
  let recoveryCodes: readonly Secret[] = []
  const guarded = await guardFactor(identity, act, async () => {
    const step = found === undefined ? undefined : findStep(found.seed, code, at)
    if (step === undefined) return false
    return ownAct(identity, act, async (within) => {
      const { factors, sessions } = within.storage.identity
      if (!(await factors.confirmAuthenticator(account.id, at, step)))
        return { value: false, action: undefined }
      recoveryCodes = await ensureRecoveryCodes(within, account.id)
      await sessions.showSecondFactor(sessionId)
      return { value: true, action: 'account.add-authenticator' }
    })
  })
  if (guarded.kind !== 'right') return guarded
  notifyOwner(identity, account, factorChangedText('An authenticator app was added to your account'))
  return { kind: 'confirmed', recoveryCodes }
}

export async function removeAuthenticator(identity: Identity, act: OwnersAct): Promise<boolean> {
  const { account } = act
  const removed = await ownAct(identity, act, async (within) => {
    if (!(await within.storage.identity.factors.removeAuthenticator(account.id)))
      return { value: false, action: undefined }
    await forgetLooseRecoveryCodes(within, account.id)
    return { value: true, action: 'account.remove-authenticator' }
  })
  if (removed)
    notifyOwner(identity, account, factorChangedText('The authenticator app was removed from your account'))
  return removed
}

/** Called by the owner, in their session. */
export function replaceRecoveryCodes(identity: Identity, act: OwnersAct): Promise<readonly Secret[]> {
  return ownAct(identity, act, async (within) => ({
    value: await renewRecoveryCodes(within, act.account.id),
    action: 'account.renew-recovery-codes',
  }))
}

/** Creates them if there are none. */
export async function ensureRecoveryCodes(
  identity: Identity,
  account: AccountId,
): Promise<readonly Secret[]> {
  const left = await identity.storage.identity.factors.countRecoveryCodes(account)
  return left > 0 ? [] : renewRecoveryCodes(identity, account)
}

/** Replaces all of them; the former ones become invalid. */
async function renewRecoveryCodes(identity: Identity, account: AccountId): Promise<readonly Secret[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, makeRecoveryCode)
  await identity.storage.identity.factors.putRecoveryCodes(
    account,
    codes.map((code) => new Secret(plainRecoveryCode(code.unwrap()))),
  )
  return codes
}

/** Without a second factor, recovery codes are removed, and no session counts as having verified one. */
export async function forgetLooseRecoveryCodes(identity: Identity, account: AccountId): Promise<void> {
  if ((await listFactors(identity, account)).length > 0) return
  await identity.storage.identity.factors.putRecoveryCodes(account, [])
  await identity.storage.identity.sessions.forgetSecondFactor(account)
}

/** `abcd-efgh-jkmn`. */
function makeRecoveryCode(): Secret {
  const letters = Array.from({ length: RECOVERY_CHARACTERS }, () =>
    RECOVERY_ALPHABET.charAt(randomInt(RECOVERY_ALPHABET.length)),
  )
  return new Secret((letters.join('').match(/.{4}/g) ?? []).join('-'))
}

/** In canonical form, however it was typed. */
function plainRecoveryCode(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]/g, '')
}

export type FactorAnswer =
  | { readonly kind: 'totp'; readonly code: string }
  | { readonly kind: 'recovery_code'; readonly code: string }

/** The first factor and its session data, kept until the second factor is verified. */
export interface PendingSignIn {
  readonly account: Account
  readonly method: SignInMethod
}

export type FactorOutcome =
  | { readonly kind: 'passed'; readonly pending: PendingSignIn }
  | { readonly kind: 'wrong' }
  /** The challenge has ended, or belongs to another account. */
  | { readonly kind: 'gone' }
  | TooMany

/** Verifies a second factor. A challenge allows five attempts, an account ten per quarter of an hour. */
export async function answerSecondFactor(
  identity: Identity,
  challenge: string,
  answer: FactorAnswer,
): Promise<FactorOutcome> {
  return passSecondFactor(identity, challenge, (account) => isRightAnswer(identity, account.id, answer))
}

/** The same for any proof of the second factor. */
export async function passSecondFactor(
  identity: Identity,
  challenge: string,
  isRight: (account: Account) => Promise<boolean>,
): Promise<FactorOutcome> {
  const { challenges } = identity.storage.identity
  const idHash = hashToken(challenge)
  const asked = await challenges.try(idHash, 'second-factor', identity.now())
  const account =
    asked?.accountId === undefined ? undefined : await identity.storage.accounts.find(asked.accountId)
  if (asked === undefined || account === undefined || account.status === 'suspended') return { kind: 'gone' }
  const guarded = await guardFactor(identity, { account }, () => isRight(account))
  if (guarded.kind !== 'right') return guarded
  // Of two concurrent right answers one gets the session.
  if ((await challenges.take(idHash, 'second-factor', identity.now())) === undefined) return { kind: 'gone' }
  return { kind: 'passed', pending: { account, method: methodIn(asked.detail) } }
}

/** The account whose second factor this challenge asks for. */
export async function findPending(
  { storage, now }: Identity,
  challenge: string,
): Promise<AccountId | undefined> {
  const asked = await storage.identity.challenges.find(hashToken(challenge), 'second-factor', now())
  return asked?.accountId
}

async function isRightAnswer(identity: Identity, account: AccountId, answer: FactorAnswer): Promise<boolean> {
  const { factors } = identity.storage.identity
  switch (answer.kind) {
    case 'totp': {
      const found = await factors.findAuthenticator(account)
      if (found?.confirmedAt === undefined) return false
      const step = findStep(found.seed, answer.code, identity.now())
      return step !== undefined && factors.useStep(account, step)
    }
    case 'recovery_code':
      return factors.useRecoveryCode(account, new Secret(plainRecoveryCode(answer.code)))
  }
}

async function guardFactor(
  identity: Identity,
  { account }: Pick<OwnAct, 'account'>,
  isRight: () => Promise<boolean>,
): Promise<Guarded> {
  const { attempts } = identity.storage.identity
  const bucket = factorBucket(account.id)
  const waitMs = await attempts.take([bucket], identity.now())
  if (waitMs !== undefined) {
    identity.security.note('second-factor.limited', { account: account.id })
    return { kind: 'too-many', retryAfterMs: waitMs }
  }
  if (!(await isRight())) {
    identity.security.note('second-factor.failed', { account: account.id })
    return { kind: 'wrong' }
  }
  await attempts.giveBack([bucket])
  return { kind: 'right' }
}

const METHODS: readonly SignInMethod[] = ['password', 'code', 'service']

function methodIn(detail: string): SignInMethod {
  const stored: unknown = JSON.parse(detail)
  const method =
    typeof stored === 'object' && stored !== null && 'method' in stored ? stored.method : undefined
  const known = METHODS.find((each) => each === method)
  if (known === undefined) throw new Error('a question after a second factor does not say how it began')
  return known
}
