/**
 * Organisations: accounts without a sign-in, for which people act. Their Credits, keys, limits and logs are those of
 * any account; this store has their members. Every change of who may act is decided under the lock of the
 * organisation's account and announced to every instance.
 */
import type { MemberRow } from '../../core/ledger/hot-rows.ts'
import type { AccountId, MemberId } from '../../core/ids.ts'
import type { Policy } from '../../core/limits/policy.ts'
import type { MicroCredits } from '../../core/money.ts'
import type { Pool } from '../../core/top-up/payment.ts'
import type { Idempotency } from './customers.ts'

export const MEMBER_ROLES = ['owner', 'admin', 'member'] as const
export type MemberRole = (typeof MEMBER_ROLES)[number]

export interface Organisation {
  /** Also the id of its account. */
  readonly id: AccountId
  readonly name: string
  readonly createdAt: number
}

/** One person in one organisation. */
export interface Member {
  readonly id: MemberId
  readonly organisationId: AccountId
  /** The person's own account. */
  readonly accountId: AccountId
  readonly role: MemberRole
  readonly status: 'active' | 'suspended'
  /** µCr a month that their calls may take from the organisation's Credits outside the subscription; 0: unlimited. */
  readonly monthlyCap: MicroCredits
  readonly policy: Policy
  /** Month the next two count for, epoch ms of its start. */
  readonly monthStart: number
  readonly monthSpent: MicroCredits
  readonly monthHeld: MicroCredits
  readonly joinedAt: number
}

/** A member with the person's visible data. */
export interface ListedMember extends Member {
  readonly email: string | undefined
  readonly phone: string | undefined
  readonly name: string | undefined
  readonly personStatus: 'active' | 'suspended'
}

export interface Membership {
  readonly organisation: Organisation
  readonly member: Member
}

export interface Invitation {
  readonly id: string
  readonly organisationId: AccountId
  /** Converted to canonical form by the store. */
  readonly email: string
  readonly role: MemberRole
  readonly monthlyCap: MicroCredits
  readonly policy: Policy
  readonly invitedBy: AccountId
  readonly createdAt: number
  readonly expiresAt: number
  readonly status: 'pending' | 'accepted' | 'revoked'
  /** Lower-case hex SHA-256 of the mailed token. */
  readonly tokenHash: string
}

export type MemberPatch = Partial<Pick<Member, 'role' | 'status' | 'monthlyCap' | 'policy'>>

/**
 * `last-owner`: the organisation would be left without an owner who can act for it. `other-role`: the member's role is
 * not one of those given.
 */
export type MemberChange = 'done' | 'none' | 'last-owner' | 'other-role'

/** The roles that the caller may change: a member with another role meanwhile is not changed. Absent: any role. */
export interface MemberGuard {
  readonly roles?: readonly MemberRole[]
}

export type AcceptOutcome =
  /** Accepting again as the same person returns the same member. */
  | { readonly kind: 'accepted'; readonly organisation: Organisation; readonly member: Member }
  /** Unknown, expired, revoked or used by another person. */
  | { readonly kind: 'none' }
  /** The person has another address. */
  | { readonly kind: 'other-address' }
  /** The invitation is unchanged. */
  | { readonly kind: 'member-already' }

export type CloseOutcome =
  | { readonly kind: 'closed'; readonly credits: MicroCredits; readonly balance: MicroCredits }
  /** Nothing was done: giving up the remaining money must be requested explicitly. */
  | { readonly kind: 'money-left'; readonly credits: MicroCredits; readonly balance: MicroCredits }
  | { readonly kind: 'calls-run'; readonly calls: number }
  | { readonly kind: 'none' }

/** From an owner's own account into the organisation's, the same pool of both. */
export interface OrganisationFunding {
  readonly organisation: AccountId
  readonly person: AccountId
  readonly pool: Pool
  /** Above 0. */
  readonly amount: MicroCredits
  /** Id of the new ledger transaction. */
  readonly transactionId: string
  readonly idempotency: Idempotency | undefined
  readonly at: number
}

export type FundingOutcome =
  /** `repeated`: it was done before under this idempotency key, in this transaction; nothing was moved now. */
  | { readonly kind: 'funded'; readonly transactionId: string; readonly repeated: boolean }
  | { readonly kind: 'too-little'; readonly available: MicroCredits }
  /** No such organisation, or the person is not an active owner of it. */
  | { readonly kind: 'none' }
  /** The idempotency key was used for something else. */
  | { readonly kind: 'other-request' }

export interface OrganisationPage {
  readonly limit: number
  /** Last id of the previous page. */
  readonly after: string | undefined
}

export interface OrganisationStore {
  /** Creates its account, the organisation and its first owner. Rejects with `StorageConflict` if the id is taken. */
  create(organisation: Organisation, owner: Pick<Member, 'id' | 'accountId'>): Promise<void>
  /** One that was closed is not found. */
  find(id: AccountId): Promise<Organisation | undefined>
  /** By id. */
  list(page: OrganisationPage): Promise<readonly Organisation[]>
  rename(id: AccountId, name: string): Promise<boolean>
  /**
   * Permanent, and not while a call is running: deletes its keys and own credentials, ends its subscription, removes
   * its members, revokes its invitations and suspends its account. Ledger and logs are kept, and remaining Credits stay
   * on its account.
   */
  close(
    id: AccountId,
    options: { readonly at: number; readonly forfeit: 'refuse' | 'allow' },
  ): Promise<CloseOutcome>
  /** Oldest membership first; suspended ones too. */
  listOf(person: AccountId): Promise<readonly Membership[]>
  member(organisation: AccountId, person: AccountId): Promise<Member | undefined>
  findMember(id: MemberId): Promise<Member | undefined>
  /** The member as seen by calls of their keys, including removed ones. */
  callingMember(id: MemberId): Promise<MemberRow | undefined>
  /** In order of joining. */
  members(organisation: AccountId, page: OrganisationPage): Promise<readonly ListedMember[]>
  /** Takes effect with the next call, on every instance. */
  patchMember(id: MemberId, patch: MemberPatch, guard?: MemberGuard): Promise<MemberChange>
  /** `keep`: the member's keys become the organisation's own. */
  removeMember(
    id: MemberId,
    options: { readonly keys: 'delete' | 'keep' } & MemberGuard,
  ): Promise<MemberChange>
  /**
   * `member`: the person with this address is a member already. `pending`: the address has an invitation that has not
   * expired. `none`: no such organisation.
   */
  invite(invitation: Omit<Invitation, 'status'>): Promise<'invited' | 'pending' | 'member' | 'none'>
  /** Newest first. */
  invitations(
    organisation: AccountId,
    page: OrganisationPage & { readonly status?: Invitation['status'] },
  ): Promise<readonly Invitation[]>
  findInvitation(tokenHash: string): Promise<Invitation | undefined>
  findInvitationById(id: string): Promise<Invitation | undefined>
  /** Whether any organisation has an invitation for this address that can still be accepted. */
  isInvited(email: string, at: number): Promise<boolean>
  /** For sending it again: a new secret, and a new expiry. False: it is not pending any more. */
  renewInvitation(id: string, renewed: Pick<Invitation, 'tokenHash' | 'expiresAt'>): Promise<boolean>
  /** False: it is not pending any more. */
  revokeInvitation(id: string): Promise<boolean>
  /** Exactly once, by the person whose address was invited; `member` is the id they get. */
  acceptInvitation(acceptance: {
    readonly tokenHash: string
    readonly person: AccountId
    readonly member: MemberId
    readonly at: number
  }): Promise<AcceptOutcome>
  /** Moves money from a person's account into the organisation's, once per idempotency key. */
  fund(funding: OrganisationFunding): Promise<FundingOutcome>
}
