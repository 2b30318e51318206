/** Passkeys (WebAuthn): added by a signed-in owner, used as a second factor or alone. */
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import type { AccountId } from '../../../core/ids.ts'
import type { Secret } from '../../../core/secret.ts'
import { StorageConflict } from '../../../storage/failures/conflict.ts'
import type { ChallengeKind, Passkey } from '../../../storage/stores/identity.ts'
import { ensureRecoveryCodes, forgetLooseRecoveryCodes, type OwnersAct } from './factors.ts'
import type { Identity, TooMany } from '../identity.ts'
import { questionBucket } from '../limits.ts'
import { factorChangedText } from '../messages/message-texts.ts'
import { ownAct } from '../own-act.ts'
import { notifyOwner } from '../messages/notify.ts'
import { CHALLENGE_TOKEN_PREFIX, hashToken, makeToken } from '../sessions/tokens.ts'
import type { Account } from '../../../storage/stores/accounts.ts'

/** Loaded at the first use: it includes a certificate parser. */
const library = () => import('@simplewebauthn/server')

/** The site as the browser sees it: a passkey is bound to the host name, an answer to the whole origin. */
export interface Site {
  readonly origin: string
  readonly hostName: string
}

/** Time for a person to find their key. */
const LIFE_MS = 300_000
export const PASSKEYS_MAX = 20

/** The options for the browser, and the token that its answer must contain. */
export interface PasskeyQuestion<Options> {
  readonly kind: 'asked'
  readonly challenge: Secret
  readonly options: Options
  readonly endsAt: number
}

export async function startRegistration(
  identity: Identity,
  account: Account,
  site: Site,
): Promise<PasskeyQuestion<PublicKeyCredentialCreationOptionsJSON>> {
  const known = await identity.storage.identity.factors.listPasskeys(account.id)
  const options = await (await library()).generateRegistrationOptions({
    rpName: 'Sluice',
    rpID: site.hostName,
    userName: account.email ?? account.phone ?? account.id,
    userID: Uint8Array.from(new TextEncoder().encode(account.id)),
    attestationType: 'none',
    excludeCredentials: known.map(({ id, transports }) => ({ id, transports: [...transports] })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
    timeout: LIFE_MS,
  })
  return ask(identity, 'passkey-registration', { account: account.id, options })
}

export type PasskeyAddition =
  | { readonly kind: 'added'; readonly passkey: Passkey; readonly recoveryCodes: readonly Secret[] }
  | { readonly kind: 'refused' }
  | { readonly kind: 'too-many-keys' }

export async function finishRegistration(
  identity: Identity,
  act: OwnersAct,
  answer: {
    readonly challenge: string
    readonly name: string
    readonly response: RegistrationResponseJSON
    readonly site: Site
  },
): Promise<PasskeyAddition> {
  const { account, sessionId } = act
  const { factors } = identity.storage.identity
  const asked = await takeChallenge(identity, 'passkey-registration', answer.challenge)
  if (asked === undefined || asked.accountId !== account.id) return { kind: 'refused' }
  if ((await factors.listPasskeys(account.id)).length >= PASSKEYS_MAX) return { kind: 'too-many-keys' }
  const passkey = await readNewPasskey(identity, account.id, { ...answer, expected: asked.challenge })
  if (passkey === undefined) return { kind: 'refused' }
  try {
    const recoveryCodes = await ownAct(identity, act, async (within) => {
      await within.storage.identity.factors.addPasskey(passkey)
      const value = await ensureRecoveryCodes(within, account.id)
      await within.storage.identity.sessions.showSecondFactor(sessionId)
      const changes = [{ field: 'passkey', from: null, to: passkey.name }]
      return { value, action: 'account.add-passkey', changes }
    })
    notifyOwner(identity, account, factorChangedText('A passkey was added to your account'))
    return { kind: 'added', passkey, recoveryCodes }
  } catch (error) {
    if (error instanceof StorageConflict) return { kind: 'refused' }
    throw error
  }
}

async function readNewPasskey(
  identity: Identity,
  accountId: AccountId,
  answer: {
    readonly expected: string
    readonly name: string
    readonly response: RegistrationResponseJSON
    readonly site: Site
  },
): Promise<Passkey | undefined> {
  const verified = await judged(identity, async () =>
    (await library()).verifyRegistrationResponse({
      response: answer.response,
      expectedChallenge: answer.expected,
      expectedOrigin: answer.site.origin,
      expectedRPID: answer.site.hostName,
      // As a second factor the key alone is enough; without a password, user verification is required when it is used.
      requireUserVerification: false,
    }),
  )
  if (verified?.verified !== true) return undefined
  const { credential, credentialBackedUp } = verified.registrationInfo
  return {
    id: credential.id,
    accountId,
    name: answer.name,
    publicKey: Buffer.from(credential.publicKey).toString('base64url'),
    counter: credential.counter,
    transports: credential.transports ?? [],
    backedUp: credentialBackedUp,
    createdAt: identity.now(),
    usedAt: undefined,
  }
}

export async function removePasskey(identity: Identity, act: OwnersAct, id: string): Promise<boolean> {
  const { account } = act
  const removed = await ownAct(identity, act, async (within) => {
    if (!(await within.storage.identity.factors.removePasskey(account.id, id)))
      return { value: false, action: undefined }
    await forgetLooseRecoveryCodes(within, account.id)
    const changes = [{ field: 'passkey', from: id, to: null }]
    return { value: true, action: 'account.remove-passkey', changes }
  })
  if (removed) notifyOwner(identity, account, factorChangedText('A passkey was removed from your account'))
  return removed
}

export interface PasskeyRequest {
  /** The account whose second factor it is; undefined: a sign-in by passkey alone. */
  readonly account: AccountId | undefined
  readonly site: Site
  readonly address: string
}

export async function startPasskeySignIn(
  identity: Identity,
  { account, site, address }: PasskeyRequest,
): Promise<PasskeyQuestion<PublicKeyCredentialRequestOptionsJSON> | TooMany> {
  const waitMs = await identity.storage.identity.attempts.take([questionBucket(address)], identity.now())
  if (waitMs !== undefined) return { kind: 'too-many', retryAfterMs: waitMs }
  const known = account === undefined ? [] : await identity.storage.identity.factors.listPasskeys(account)
  const options = await (await library()).generateAuthenticationOptions({
    rpID: site.hostName,
    userVerification: account === undefined ? 'required' : 'preferred',
    timeout: LIFE_MS,
    ...(account === undefined
      ? {}
      : { allowCredentials: known.map(({ id, transports }) => ({ id, transports: [...transports] })) }),
  })
  return ask(identity, 'passkey-sign-in', { account, options })
}

export interface PasskeyAnswer {
  readonly challenge: string
  readonly response: AuthenticationResponseJSON
  readonly site: Site
}

/**
 * The account of the passkey that answered, once. Without a first factor the device must also have verified the person
 * (fingerprint, face, PIN): then the passkey counts as two factors.
 */
export async function passPasskey(
  identity: Identity,
  answer: PasskeyAnswer,
  role: 'second-factor' | 'alone',
): Promise<AccountId | undefined> {
  const { factors } = identity.storage.identity
  const asked = await takeChallenge(identity, 'passkey-sign-in', answer.challenge)
  const passkey = await factors.findPasskey(answer.response.id)
  if (asked === undefined || passkey === undefined) return undefined
  const expectedAccount = role === 'alone' ? undefined : passkey.accountId
  if (asked.accountId !== expectedAccount) return undefined
  const verified = await judged(identity, async () =>
    (await library()).verifyAuthenticationResponse({
      response: answer.response,
      expectedChallenge: asked.challenge,
      expectedOrigin: answer.site.origin,
      expectedRPID: answer.site.hostName,
      credential: {
        id: passkey.id,
        publicKey: Uint8Array.from(Buffer.from(passkey.publicKey, 'base64url')),
        counter: passkey.counter,
      },
      requireUserVerification: role === 'alone',
    }),
  )
  if (verified?.verified !== true) return undefined
  const use = { counter: verified.authenticationInfo.newCounter, at: identity.now() }
  return (await factors.usePasskey(passkey.id, use)) ? passkey.accountId : undefined
}

async function ask<Options extends { readonly challenge: string }>(
  { storage, now }: Identity,
  kind: ChallengeKind,
  { account, options }: { readonly account: AccountId | undefined; readonly options: Options },
): Promise<PasskeyQuestion<Options>> {
  const challenge = makeToken(CHALLENGE_TOKEN_PREFIX)
  const at = now()
  await storage.identity.challenges.put(hashToken(challenge.unwrap()), {
    kind,
    accountId: account,
    detail: JSON.stringify(options.challenge),
    triesLeft: 1,
    createdAt: at,
    endsAt: at + LIFE_MS,
  })
  return { kind: 'asked', challenge, options, endsAt: at + LIFE_MS }
}

async function takeChallenge(
  { storage, now }: Identity,
  kind: ChallengeKind,
  token: string,
): Promise<{ readonly accountId: AccountId | undefined; readonly challenge: string } | undefined> {
  const taken = await storage.identity.challenges.take(hashToken(token), kind, now())
  return taken === undefined
    ? undefined
    : { accountId: taken.accountId, challenge: String(JSON.parse(taken.detail)) }
}

/** The library throws an error for an invalid answer; this counts as no proof, and the reason is logged. */
async function judged<Value>({ log }: Identity, verify: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await verify()
  } catch (error) {
    log.debug({ error }, 'a passkey’s answer was refused')
    return undefined
  }
}
