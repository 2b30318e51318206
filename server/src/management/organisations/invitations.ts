/**
 * Invitations: sent by mail, accepted by a person signed in with the invited address. Inviting does the same work and
 * gives the same answer whether or not the address has an account.
 */
import { DAY_MS, QUARTER_HOUR_MS } from '../../core/durations.ts'
import type { AccountId, MemberId } from '../../core/ids.ts'
import type { AttemptBucket } from '../../core/identity/attempt-bucket.ts'
import type { Policy } from '../../core/limits/policy.ts'
import type { MicroCredits } from '../../core/money.ts'
import type { Secret } from '../../core/secret.ts'
import type {
  AcceptOutcome,
  Invitation,
  MemberRole,
  Organisation,
} from '../../storage/stores/organisations.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Identity } from '../identity/identity.ts'
import { placeOf } from '../identity/limits.ts'
import { hashToken, makeToken } from '../identity/sessions/tokens.ts'
import { newMemberId, timeOrderedId } from '../new-id.ts'
import { invitationText } from './message-texts.ts'
import type { Account } from '../../storage/stores/accounts.ts'

/** How long an invitation can be accepted. */
export const INVITATION_MS = 7 * DAY_MS
/** Prefix of the tokens in mails. */
const TOKEN_PREFIX = 'invite-'

/** Limits for mails: of an organisation, of a person, and to one address from all senders. */
const PER_ORGANISATION = 100
const PER_PERSON = 100
const PER_ADDRESS = 5
/** Wrong tokens per network: 32 random bytes cannot be guessed, but attempts are limited all the same. */
const WRONG_PER_PLACE = 60
const WRONG_PER_PERSON = 20

/** What inviting uses. */
export interface Inviting {
  readonly storage: Pick<Storage, 'organisations' | 'identity'>
  readonly identity: Pick<Identity, 'messenger' | 'background'>
  /** The address for signing in; undefined: not configured. */
  readonly publicUrl: string | undefined
  /** The console's address for opening an invitation; undefined: there is no console. */
  readonly consoleUrl: string | undefined
}

export interface InvitationRequest {
  readonly organisation: Organisation
  readonly inviter: Pick<Account, 'id' | 'email' | 'phone'>
  /** In canonical form. */
  readonly email: string
  readonly role: MemberRole
  readonly monthlyCap: MicroCredits
  readonly policy: Policy
}

export type InvitationOutcome =
  | { readonly kind: 'invited'; readonly invitation: Omit<Invitation, 'tokenHash'> }
  | { readonly kind: 'pending' | 'member' | 'none' }
  | { readonly kind: 'too-many'; readonly retryAfterMs: number }

export async function invite(
  inviting: Inviting,
  request: InvitationRequest,
  at: number,
): Promise<InvitationOutcome> {
  const { organisation, inviter, email, role, monthlyCap, policy } = request
  const { storage } = inviting
  const buckets = mailBuckets({ organisation: organisation.id, person: inviter.id, email })
  const retryAfterMs = await storage.identity.attempts.take(buckets, at)
  if (retryAfterMs !== undefined) return { kind: 'too-many', retryAfterMs }
  const token = makeToken(TOKEN_PREFIX)
  const invitation = {
    id: `inv_${timeOrderedId(at)}`,
    organisationId: organisation.id,
    email,
    role,
    monthlyCap,
    policy,
    invitedBy: inviter.id,
    createdAt: at,
    expiresAt: at + INVITATION_MS,
  }
  const outcome = await storage.organisations.invite({ ...invitation, tokenHash: hashToken(token.unwrap()) })
  if (outcome !== 'invited') {
    await storage.identity.attempts.giveBack(buckets)
    return { kind: outcome }
  }
  post(inviting, { organisation, inviter, invitation, token })
  return { kind: 'invited', invitation: { ...invitation, status: 'pending' } }
}

/** With a new secret, which replaces the former one, and a new full period. */
export async function resendInvitation(
  inviting: Inviting,
  request: {
    readonly organisation: Organisation
    readonly inviter: Pick<Account, 'id' | 'email' | 'phone'>
    readonly invitation: Invitation
  },
  at: number,
): Promise<Exclude<InvitationOutcome, { kind: 'pending' | 'member' | 'none' }> | { readonly kind: 'gone' }> {
  const { storage } = inviting
  const { organisation, inviter, invitation } = request
  const buckets = mailBuckets({
    organisation: organisation.id,
    person: inviter.id,
    email: invitation.email,
  })
  const retryAfterMs = await storage.identity.attempts.take(buckets, at)
  if (retryAfterMs !== undefined) return { kind: 'too-many', retryAfterMs }
  const token = makeToken(TOKEN_PREFIX)
  const renewed = { tokenHash: hashToken(token.unwrap()), expiresAt: at + INVITATION_MS }
  if (!(await storage.organisations.renewInvitation(invitation.id, renewed))) {
    await storage.identity.attempts.giveBack(buckets)
    return { kind: 'gone' }
  }
  const sent = { ...invitation, ...renewed }
  post(inviting, { organisation, inviter, invitation: sent, token })
  return { kind: 'invited', invitation: sent }
}

function mailBuckets(of: {
  readonly organisation: AccountId
  readonly person: AccountId
  readonly email: string
}): readonly AttemptBucket[] {
  return [
    { subject: `invite/organisation/${of.organisation}`, limit: PER_ORGANISATION, windowMs: DAY_MS },
    { subject: `invite/person/${of.person}`, limit: PER_PERSON, windowMs: DAY_MS },
    { subject: `invite/address/${of.email}`, limit: PER_ADDRESS, windowMs: DAY_MS },
  ]
}

/** Sent after the answer, so that a slow mail server reveals nothing and causes no delay. */
function post(
  { identity, publicUrl, consoleUrl }: Inviting,
  {
    organisation,
    inviter,
    invitation,
    token,
  }: {
    readonly organisation: Organisation
    readonly inviter: Pick<Account, 'id' | 'email' | 'phone'>
    readonly invitation: Pick<Invitation, 'email' | 'role' | 'expiresAt'>
    readonly token: Secret
  },
): void {
  const text = invitationText({
    organisation: organisation.name,
    inviter: inviter.email ?? inviter.phone ?? inviter.id,
    role: invitation.role,
    token: token.unwrap(),
    expiresAt: invitation.expiresAt,
    publicUrl,
    consoleUrl,
  })
  identity.background.track(
    identity.messenger.send({ channel: 'email', to: invitation.email, ...text }),
    'send an invitation',
  )
}

export type Preview =
  | {
      readonly kind: 'found'
      readonly organisation: Organisation
      readonly invitation: Pick<Invitation, 'email' | 'role' | 'expiresAt'>
    }
  | { readonly kind: 'none' }
  | { readonly kind: 'too-many'; readonly retryAfterMs: number }

/** Shows the invitation of a token before its holder signs in. */
export async function previewInvitation(
  storage: Pick<Storage, 'organisations' | 'identity'>,
  asked: { readonly token: string; readonly address: string },
  at: number,
): Promise<Preview> {
  const buckets = [placeBucket(asked.address)]
  const retryAfterMs = await storage.identity.attempts.take(buckets, at)
  if (retryAfterMs !== undefined) return { kind: 'too-many', retryAfterMs }
  const invitation = await storage.organisations.findInvitation(hashToken(asked.token))
  if (invitation === undefined || invitation.status !== 'pending' || invitation.expiresAt <= at)
    return { kind: 'none' }
  const organisation = await storage.organisations.find(invitation.organisationId)
  if (organisation === undefined) return { kind: 'none' }
  await storage.identity.attempts.giveBack(buckets)
  return { kind: 'found', organisation, invitation }
}

export type Acceptance =
  | Exclude<AcceptOutcome, { kind: 'accepted' }>
  /** `repeated`: it was accepted before by the same person. */
  | (Extract<AcceptOutcome, { kind: 'accepted' }> & { readonly repeated: boolean })
  | { readonly kind: 'too-many'; readonly retryAfterMs: number }

export async function acceptInvitation(
  storage: Pick<Storage, 'organisations' | 'identity'>,
  asked: { readonly token: string; readonly person: AccountId; readonly address: string },
  at: number,
): Promise<Acceptance> {
  const buckets = [
    placeBucket(asked.address),
    { subject: `invitation/person/${asked.person}`, limit: WRONG_PER_PERSON, windowMs: QUARTER_HOUR_MS },
  ]
  const retryAfterMs = await storage.identity.attempts.take(buckets, at)
  if (retryAfterMs !== undefined) return { kind: 'too-many', retryAfterMs }
  const member: MemberId = newMemberId(at)
  const outcome = await storage.organisations.acceptInvitation({
    tokenHash: hashToken(asked.token),
    person: asked.person,
    member,
    at,
  })
  if (outcome.kind !== 'accepted') return outcome
  await storage.identity.attempts.giveBack(buckets)
  return { ...outcome, repeated: outcome.member.id !== member }
}

function placeBucket(address: string): AttemptBucket {
  return {
    subject: `invitation/place/${placeOf(address)}`,
    limit: WRONG_PER_PLACE,
    windowMs: QUARTER_HOUR_MS,
  }
}
