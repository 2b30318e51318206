/** Organisations and their members as the management API makes them: by invitation, changed and removed under their lock. */
import { type AccountId, accountId, memberId } from '../../src/core/ids.ts'
import type { Storage } from '../../src/storage/storage.ts'
import type { SimulatedMember } from './store.ts'

/** With an owner who does nothing more. */
export async function startTeam({ accounts, organisations }: Storage, id: AccountId): Promise<void> {
  const owner = accountId(`${id}_owner`)
  await accounts.create({ id: owner, createdAt: 0 })
  await organisations.create(
    { id, name: id, createdAt: 0 },
    { id: memberId(`${id}_owner`), accountId: owner },
  )
}

export async function setMember(
  storage: Storage,
  member: SimulatedMember,
  known: 'new' | 'there',
): Promise<void> {
  const { monthlyCap, policy } = member
  if (known === 'new') await invite(storage, member)
  // Removed members are not changed: they are removed.
  const status = member.status === 'active' ? 'active' : 'suspended'
  await storage.organisations.patchMember(member.id, { status, monthlyCap, policy })
  await storage.accounts.patch(personOf(member), { status: member.personStatus })
}

export async function removeFromTeam(
  { organisations }: Storage,
  { id, keys }: SimulatedMember,
): Promise<void> {
  await organisations.removeMember(id, { keys })
}

const personOf = ({ id }: SimulatedMember): AccountId => accountId(`${id}_person`)

async function invite({ accounts, organisations }: Storage, member: SimulatedMember): Promise<void> {
  const { id, organisationId, monthlyCap, policy } = member
  const person = personOf(member)
  const email = `${id}@example.com`
  await accounts.create({ id: person, createdAt: 0, email })
  await organisations.invite({
    id: `${id}_invitation`,
    organisationId,
    email,
    role: 'member',
    monthlyCap,
    policy,
    invitedBy: person,
    createdAt: 0,
    expiresAt: 1,
    tokenHash: `${id}_token`,
  })
  await organisations.acceptInvitation({ tokenHash: `${id}_token`, person, member: id, at: 0 })
}
