/** The members of an organisation, and what may be changed about them. */
import type { Insertable, Kysely, Transaction } from 'kysely'
import { type AccountId, accountId, type MemberId } from '../../../core/ids.ts'
import type {
  ListedMember,
  Member,
  MemberChange,
  MemberGuard,
  MemberPatch,
  Membership,
  OrganisationPage,
  OrganisationStore,
} from '../../stores/organisations.ts'
import type { Written } from '../announced-write.ts'
import type { SqlEngine } from '../engine.ts'
import { pageLimit } from '../page.ts'
import type { Schema } from '../schema.ts'
import type { MembersTable } from '../schema/organisations.ts'
import { announceKeys, deleteKeys, releaseKeys } from './member-keys.ts'
import { decodeMember, decodeMemberRow } from './member-row.ts'
import { lockOrganisation } from './lock-organisation.ts'
import type { OrganisationStoreOptions } from './options.ts'

type MemberStore = Pick<
  OrganisationStore,
  'listOf' | 'member' | 'findMember' | 'callingMember' | 'members' | 'patchMember' | 'removeMember'
>

export function createMemberStore({ engine, reader, write }: OrganisationStoreOptions): MemberStore {
  return {
    listOf: (person) => listMemberships(reader, person),

    async member(organisation, person) {
      const row = await present(reader)
        .where('organisation_id', '=', organisation)
        .where('account_id', '=', person)
        .executeTakeFirst()
      return row === undefined ? undefined : decodeMember({ ...row })
    },

    findMember: (id) => findMember(reader, id),

    async callingMember(id) {
      const row = await reader
        .selectFrom('members')
        .innerJoin('accounts', 'accounts.id', 'members.account_id')
        .selectAll('members')
        .select('accounts.status as person_status')
        .where('members.id', '=', id)
        .executeTakeFirst()
      return row === undefined ? undefined : decodeMemberRow({ ...row })
    },

    members: (organisation, page) => listMembers(reader, organisation, page),

    patchMember: (id, patch, guard = {}) =>
      write((transaction) =>
        changeMember(
          engine,
          transaction,
          { id, guard, isOwnerAfter: (member) => isOwner({ ...member, ...patch }) },
          (member) => patchIn(transaction, member, patch),
        ),
      ),

    removeMember: (id, { keys, ...guard }) =>
      write((transaction) =>
        changeMember(engine, transaction, { id, guard, isOwnerAfter: () => false }, (member) =>
          removeIn(transaction, member, keys),
        ),
      ),
  }
}

const present = (reader: Kysely<Schema>) =>
  reader.selectFrom('members').selectAll().where('status', '<>', 'removed')

async function findMember(reader: Kysely<Schema>, id: MemberId): Promise<Member | undefined> {
  const row = await present(reader).where('id', '=', id).executeTakeFirst()
  return row === undefined ? undefined : decodeMember({ ...row })
}

async function listMemberships(reader: Kysely<Schema>, person: AccountId): Promise<readonly Membership[]> {
  const rows = await reader
    .selectFrom('members')
    .innerJoin('organisations', 'organisations.id', 'members.organisation_id')
    .selectAll('members')
    .select(['organisations.name', 'organisations.created_at'])
    .where('members.account_id', '=', person)
    .where('members.status', '<>', 'removed')
    .where('organisations.closed_at', 'is', null)
    .orderBy('members.joined_at')
    .orderBy('members.id')
    .execute()
  return rows.map(({ name, created_at, ...row }) => ({
    organisation: { id: accountId(row.organisation_id), name, createdAt: Number(created_at) },
    member: decodeMember(row),
  }))
}

async function listMembers(
  reader: Kysely<Schema>,
  organisation: AccountId,
  { limit, after }: OrganisationPage,
): Promise<readonly ListedMember[]> {
  const rows = await reader
    .selectFrom('members')
    .innerJoin('accounts', 'accounts.id', 'members.account_id')
    .leftJoin('profiles', 'profiles.account_id', 'members.account_id')
    .selectAll('members')
    .select(['accounts.email', 'accounts.phone', 'accounts.status as person_status', 'profiles.name'])
    .where('members.organisation_id', '=', organisation)
    .where('members.status', '<>', 'removed')
    .where('members.id', '>', after ?? '')
    .orderBy('members.id')
    .limit(pageLimit(limit))
    .execute()
  return rows.map(({ email, phone, person_status, name, ...row }) => ({
    ...decodeMember(row),
    email: email ?? undefined,
    phone: phone ?? undefined,
    name: name ?? undefined,
    personStatus: person_status === 'active' ? 'active' : 'suspended',
  }))
}

const isOwner = ({ role, status }: Pick<Member, 'role' | 'status'>): boolean =>
  role === 'owner' && status === 'active'

/** Finds the member under the organisation's lock and checks the two rules before anything is changed. */
async function changeMember(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  asked: {
    readonly id: MemberId
    readonly guard: MemberGuard
    readonly isOwnerAfter: (member: Member) => boolean
  },
  change: (member: Member) => Promise<Written<'done'>['changes']>,
): Promise<Written<MemberChange>> {
  const refused = (value: MemberChange): Written<MemberChange> => ({ value, changes: [] })
  const known = await findMember(transaction, asked.id)
  if (known === undefined) return refused('none')
  const organisation = await lockOrganisation(engine, transaction, known.organisationId)
  const member = await findMember(transaction, asked.id)
  if (organisation === undefined || member === undefined) return refused('none')
  if (asked.guard.roles?.includes(member.role) === false) return refused('other-role')
  if (isOwner(member) && !asked.isOwnerAfter(member) && (await isLastOwner(transaction, member))) {
    return refused('last-owner')
  }
  const changes = await change(member)
  return {
    value: 'done',
    changes: [
      { kind: 'account', accountId: member.organisationId },
      { kind: 'account', accountId: member.accountId },
      ...changes,
    ],
  }
}

async function isLastOwner(transaction: Transaction<Schema>, member: Member): Promise<boolean> {
  const other = await transaction
    .selectFrom('members')
    .innerJoin('accounts', 'accounts.id', 'members.account_id')
    .select('members.id')
    .where('members.organisation_id', '=', member.organisationId)
    .where('members.role', '=', 'owner')
    .where('members.status', '=', 'active')
    .where('accounts.status', '=', 'active')
    .where('members.id', '<>', member.id)
    .limit(1)
    .executeTakeFirst()
  return other === undefined
}

async function patchIn(transaction: Transaction<Schema>, member: Member, patch: MemberPatch) {
  const columns = {
    ...(patch.role !== undefined && { role: patch.role }),
    ...(patch.status !== undefined && { status: patch.status }),
    ...(patch.monthlyCap !== undefined && { monthly_cap: patch.monthlyCap }),
    ...(patch.policy !== undefined && { policy: JSON.stringify(patch.policy) }),
  }
  if (Object.keys(columns).length > 0) {
    await transaction.updateTable('members').set(columns).where('id', '=', member.id).execute()
  }
  return patch.status === undefined ? [] : announceKeys(transaction, { member: member.id })
}

async function removeIn(transaction: Transaction<Schema>, { id }: Member, keys: 'delete' | 'keep') {
  await transaction.updateTable('members').set({ status: 'removed' }).where('id', '=', id).execute()
  return keys === 'delete'
    ? deleteKeys(transaction, { member: id })
    : releaseKeys(transaction, { member: id })
}

/** Rejects with a conflict when the person is a member already. */
export async function insertMember(
  transaction: Transaction<Schema>,
  member: Omit<Member, 'status' | 'monthStart' | 'monthSpent' | 'monthHeld'>,
): Promise<void> {
  const row: Insertable<MembersTable> = {
    id: member.id,
    organisation_id: member.organisationId,
    account_id: member.accountId,
    role: member.role,
    status: 'active',
    monthly_cap: member.monthlyCap,
    month_start: 0,
    month_spent: 0,
    month_held: 0,
    policy: JSON.stringify(member.policy),
    joined_at: member.joinedAt,
  }
  await transaction.insertInto('members').values(row).execute()
}
