/** An organisation with its people, each at a console of their own. */
import { type AccountId, type MemberId, memberId } from '../../src/core/ids.ts'
import { UNLIMITED } from '../../src/core/limits/policy.ts'
import { microCredits } from '../../src/core/money.ts'
import { hashToken, makeToken } from '../../src/management/identity/sessions/tokens.ts'
import { newAccountId, newMemberId, timeOrderedId } from '../../src/management/new-id.ts'
import type { MemberPatch, MemberRole } from '../../src/storage/stores/organisations.ts'
import { grantCredits } from '../../src/management/money/grants.ts'
import type { Answer } from './client.ts'
import { type Customer, openCustomer } from './customer.ts'
import type { TestGateway } from './gateway.ts'

export interface TeamPerson extends Customer {
  readonly email: string
  readonly member: MemberId
  /** The same as `send`, for the organisation. */
  act(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

export interface Team {
  readonly id: AccountId
  readonly owner: TeamPerson
  readonly admin: TeamPerson
  readonly member: TeamPerson
  /** Somebody more. */
  join(role: MemberRole, patch?: MemberPatch): Promise<TeamPerson>
}

/** An organisation without money, and the membership of its owner. */
export async function newOrganisation(
  gateway: TestGateway,
  owner: AccountId,
): Promise<{ readonly id: AccountId; readonly owner: MemberId }> {
  const at = gateway.running.pipeline.now()
  const id = newAccountId(at)
  const member = newMemberId(at)
  await gateway.storage.organisations.create(
    { id, name: 'Acme', createdAt: at },
    { id: member, accountId: owner },
  )
  return { id, owner: member }
}

/** @param credits whole Credits of the organisation's own */
export async function openTeam(
  gateway: TestGateway,
  { credits = 1_000_000 }: { readonly credits?: number } = {},
): Promise<Team> {
  const { organisations } = gateway.storage
  const at = gateway.running.pipeline.now()
  const founder = await openNamed(gateway)
  const { id, owner: first } = await newOrganisation(gateway, founder.customer.id)
  await grantCredits(gateway.storage, {
    accountId: id,
    amount: microCredits(BigInt(credits) * 1_000_000n),
    transactionId: `grant:${id}`,
    reference: undefined,
    at,
  })

  const join = async (role: MemberRole, patch: MemberPatch = {}): Promise<TeamPerson> => {
    const person = await openNamed(gateway)
    // Ids sort by when they were made, and members by their ids.
    const at = gateway.running.pipeline.now()
    const tokenHash = hashToken(makeToken('invite-').unwrap())
    const member = newMemberId(at)
    await organisations.invite({
      id: `inv_${timeOrderedId(at)}`,
      organisationId: id,
      email: person.email,
      role,
      monthlyCap: microCredits(0n),
      policy: UNLIMITED,
      invitedBy: founder.customer.id,
      createdAt: at,
      expiresAt: at + 7 * 86_400_000,
      tokenHash,
    })
    const joined = await organisations.acceptInvitation({
      tokenHash,
      person: person.customer.id,
      member,
      at,
    })
    if (joined.kind !== 'accepted') throw new Error(`nobody joined: ${joined.kind}`)
    if (Object.keys(patch).length > 0) await organisations.patchMember(member, patch)
    return personOf(id, person, member)
  }
  return {
    id,
    owner: personOf(id, founder, first),
    admin: await join('admin'),
    member: await join('member'),
    join,
  }
}

interface Named {
  readonly email: string
  readonly customer: Customer
}

async function openNamed(gateway: TestGateway): Promise<Named> {
  const email = `${Math.random().toString(36).slice(2)}@example.com`
  return { email, customer: await openCustomer(gateway, { email }) }
}

function personOf(id: AccountId, { email, customer }: Named, member: MemberId): TeamPerson {
  return {
    ...customer,
    email,
    member: memberId(member),
    act: (method, path, body, headers) =>
      customer.send(method, path, body, { 'gw-organisation': id, ...headers }),
  }
}
