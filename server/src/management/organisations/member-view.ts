/** Views of organisations, their members and invitations. */
import type { Currency, DecimalText } from '../../core/catalogue.ts'
import type { JsonObject } from '../../core/json.ts'
import { ZERO } from '../../core/money.ts'
import type {
  Invitation,
  ListedMember,
  Member,
  MemberRole,
  Organisation,
} from '../../storage/stores/organisations.ts'
import { yuanText } from '../money/amounts.ts'
import { policyForm } from '../gateway-file/forms.ts'

export interface MonthOptions {
  /** The platform's own currency. */
  readonly currency: Currency
  readonly creditsPerUnit: DecimalText
  /** First instant of the current calendar month in the platform's time zone, epoch ms. */
  readonly monthStart: number
}

export interface MonthView {
  /** Currency of the amounts, ISO 4217. */
  readonly currency: string
  readonly monthly_cap_yuan: string
  readonly month_spent_yuan: string
  /** Held by running calls, worst case. */
  readonly month_held_yuan: string
}

export function viewMonth(
  member: Pick<Member, 'monthlyCap' | 'monthStart' | 'monthSpent' | 'monthHeld'>,
  { currency, creditsPerUnit, monthStart }: MonthOptions,
): MonthView {
  const runs = member.monthStart === monthStart
  return {
    currency,
    monthly_cap_yuan: yuanText(member.monthlyCap, creditsPerUnit),
    month_spent_yuan: yuanText(runs ? member.monthSpent : ZERO, creditsPerUnit),
    month_held_yuan: yuanText(runs ? member.monthHeld : ZERO, creditsPerUnit),
  }
}

export interface MembershipView extends MonthView {
  readonly id: string
  readonly role: MemberRole
  readonly status: Member['status']
  readonly policy: JsonObject
  readonly joined_at: string
}

/** A person's membership, as shown to themselves. */
export function viewMembership(member: Member, options: MonthOptions): MembershipView {
  return {
    id: member.id,
    role: member.role,
    status: member.status,
    ...viewMonth(member, options),
    policy: policyForm(member.policy),
    joined_at: new Date(member.joinedAt).toISOString(),
  }
}

export interface MemberView extends MembershipView {
  readonly account_id: string
  readonly email: string | null
  readonly phone: string | null
  readonly name: string | null
  /** The person's own account. */
  readonly account_status: 'active' | 'suspended'
}

/** The same with the person's data, for the organisation's admins. */
export function viewMember(member: ListedMember, options: MonthOptions): MemberView {
  return {
    ...viewMembership(member, options),
    account_id: member.accountId,
    email: member.email ?? null,
    phone: member.phone ?? null,
    name: member.name ?? null,
    account_status: member.personStatus,
  }
}

export interface OrganisationView {
  readonly id: string
  readonly name: string
  readonly created_at: string
  /** The caller's membership. */
  readonly member: MembershipView
}

export function viewOrganisation(
  { organisation, member }: { readonly organisation: Organisation; readonly member: Member },
  options: MonthOptions,
): OrganisationView {
  return {
    id: organisation.id,
    name: organisation.name,
    created_at: new Date(organisation.createdAt).toISOString(),
    member: viewMembership(member, options),
  }
}

export interface InvitationView {
  readonly id: string
  readonly email: string
  readonly role: MemberRole
  readonly currency: string
  readonly monthly_cap_yuan: string
  readonly policy: JsonObject
  /** Account id of the inviting member. */
  readonly invited_by: string
  readonly created_at: string
  readonly expires_at: string
  readonly status: 'pending' | 'accepted' | 'revoked' | 'expired'
}

export function viewInvitation(
  invitation: Omit<Invitation, 'tokenHash'>,
  {
    currency,
    creditsPerUnit,
    at,
  }: Pick<MonthOptions, 'currency' | 'creditsPerUnit'> & { readonly at: number },
): InvitationView {
  const isLate = invitation.status === 'pending' && invitation.expiresAt <= at
  return {
    id: invitation.id,
    email: invitation.email,
    role: invitation.role,
    currency,
    monthly_cap_yuan: yuanText(invitation.monthlyCap, creditsPerUnit),
    policy: policyForm(invitation.policy),
    invited_by: invitation.invitedBy,
    created_at: new Date(invitation.createdAt).toISOString(),
    expires_at: new Date(invitation.expiresAt).toISOString(),
    status: isLate ? 'expired' : invitation.status,
  }
}
