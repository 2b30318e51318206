/** Invitations by e-mail. Their secrets never reach the store, only the hashes. */
import type { Kysely, Selectable, Transaction } from 'kysely'
import { normalEmail } from '../../../core/identity/email-address.ts'
import { type AccountId, accountId } from '../../../core/ids.ts'
import { microCredits } from '../../../core/money.ts'
import type {
  AcceptOutcome,
  Invitation,
  Organisation,
  OrganisationStore,
} from '../../stores/organisations.ts'
import { decodePolicy } from '../accounts/account-row.ts'
import type { Written } from '../announced-write.ts'
import type { SqlEngine } from '../engine.ts'
import { pageLimit } from '../page.ts'
import type { Schema } from '../schema.ts'
import type { InvitationsTable } from '../schema/organisations.ts'
import { decodeMember, decodeRole } from './member-row.ts'
import { insertMember } from './members.ts'
import { lockOrganisation } from './lock-organisation.ts'
import type { OrganisationStoreOptions } from './options.ts'

type InvitationStore = Pick<
  OrganisationStore,
  | 'invite'
  | 'invitations'
  | 'findInvitation'
  | 'findInvitationById'
  | 'isInvited'
  | 'renewInvitation'
  | 'revokeInvitation'
  | 'acceptInvitation'
>

export function createInvitationStore({ engine, reader, write }: OrganisationStoreOptions): InvitationStore {
  return {
    invite: (invitation) =>
      write(async (transaction) => ({
        value: await inviteIn(engine, transaction, { ...invitation, email: oneEmail(invitation.email) }),
        changes: [],
      })),

    async invitations(organisation, { limit, after, status }) {
      let query = reader.selectFrom('invitations').selectAll().where('organisation_id', '=', organisation)
      if (after !== undefined) query = query.where('id', '<', after)
      if (status !== undefined) query = query.where('status', '=', status)
      const rows = await query.orderBy('id', 'desc').limit(pageLimit(limit)).execute()
      return rows.map(decodeInvitation)
    },

    findInvitation: (tokenHash) => findBy(reader, 'token_hash', tokenHash),
    findInvitationById: (id) => findBy(reader, 'id', id),

    async isInvited(email, at) {
      const found = await reader
        .selectFrom('invitations')
        .select('id')
        .where('email', '=', oneEmail(email))
        .where('status', '=', 'pending')
        .where('expires_at', '>', BigInt(at))
        .executeTakeFirst()
      return found !== undefined
    },

    renewInvitation: (id, { tokenHash, expiresAt }) =>
      write(async (transaction) => ({
        value: await changePending(transaction, id, { token_hash: tokenHash, expires_at: expiresAt }),
        changes: [],
      })),

    revokeInvitation: (id) =>
      write(async (transaction) => ({
        value: await changePending(transaction, id, { status: 'revoked' }),
        changes: [],
      })),

    acceptInvitation: (acceptance) => write((transaction) => acceptIn(engine, transaction, acceptance)),
  }
}

/** Accounts store addresses in the same form. */
const oneEmail = (email: string): string => normalEmail(email) ?? email.trim().toLowerCase()

async function inviteIn(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  invitation: Omit<Invitation, 'status'>,
): Promise<'invited' | 'pending' | 'member' | 'none'> {
  const { organisationId, email, createdAt } = invitation
  if ((await lockOrganisation(engine, transaction, organisationId)) === undefined) return 'none'
  if (await isMember(transaction, organisationId, { email })) return 'member'
  const pending = await transaction
    .selectFrom('invitations')
    .select(['id', 'expires_at'])
    .where('organisation_id', '=', organisationId)
    .where('email', '=', email)
    .where('status', '=', 'pending')
    .executeTakeFirst()
  if (pending !== undefined && pending.expires_at > BigInt(createdAt)) return 'pending'
  if (pending !== undefined) await changePending(transaction, pending.id, { status: 'revoked' })
  await transaction
    .insertInto('invitations')
    .values({
      id: invitation.id,
      organisation_id: organisationId,
      email,
      role: invitation.role,
      monthly_cap: invitation.monthlyCap,
      policy: JSON.stringify(invitation.policy),
      invited_by: invitation.invitedBy,
      created_at: createdAt,
      expires_at: invitation.expiresAt,
      status: 'pending',
      token_hash: invitation.tokenHash,
    })
    .execute()
  return 'invited'
}

async function isMember(
  transaction: Transaction<Schema>,
  organisation: AccountId,
  person: { readonly email: string } | { readonly id: AccountId },
): Promise<boolean> {
  const members = transaction
    .selectFrom('members')
    .innerJoin('accounts', 'accounts.id', 'members.account_id')
    .select('members.id')
    .where('members.organisation_id', '=', organisation)
    .where('members.status', '<>', 'removed')
  const row = await ('email' in person
    ? members.where('accounts.email', '=', person.email)
    : members.where('accounts.id', '=', person.id)
  ).executeTakeFirst()
  return row !== undefined
}

async function changePending(
  transaction: Transaction<Schema>,
  id: string,
  columns: { readonly status: string } | { readonly token_hash: string; readonly expires_at: number },
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('invitations')
    .set(columns)
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

type Acceptance = Parameters<OrganisationStore['acceptInvitation']>[0]

async function acceptIn(
  engine: SqlEngine,
  transaction: Transaction<Schema>,
  acceptance: Acceptance,
): Promise<Written<AcceptOutcome>> {
  const answer = (value: AcceptOutcome): Written<AcceptOutcome> => ({ value, changes: [] })
  const { tokenHash, person, at } = acceptance
  const known = await findRow(transaction, 'token_hash', tokenHash)
  if (known === undefined) return answer({ kind: 'none' })
  const organisation = await lockOrganisation(engine, transaction, accountId(known.organisation_id))
  // Read under the lock: concurrent acceptances follow each other.
  const row = await findRow(transaction, 'token_hash', tokenHash)
  if (organisation === undefined || row === undefined) return answer({ kind: 'none' })
  if (row.status === 'accepted')
    return answer(await acceptedBefore(transaction, row, { organisation, person }))
  if (row.status !== 'pending' || row.expires_at <= BigInt(at)) return answer({ kind: 'none' })
  const account = await transaction
    .selectFrom('accounts')
    .select('email')
    .where('id', '=', person)
    .where('kind', '=', 'person')
    .where('status', '=', 'active')
    .executeTakeFirst()
  if (account?.email !== row.email) return answer({ kind: 'other-address' })
  if (await isMember(transaction, organisation.id, { id: person })) return answer({ kind: 'member-already' })
  return join(transaction, row, { organisation, acceptance })
}

async function acceptedBefore(
  transaction: Transaction<Schema>,
  row: Selectable<InvitationsTable>,
  { organisation, person }: { readonly organisation: Organisation; readonly person: AccountId },
): Promise<AcceptOutcome> {
  const member = await transaction
    .selectFrom('members')
    .selectAll()
    .where('id', '=', row.member_id)
    .where('account_id', '=', person)
    .where('status', '<>', 'removed')
    .executeTakeFirst()
  if (member === undefined) return { kind: 'none' }
  return { kind: 'accepted', organisation, member: decodeMember({ ...member }) }
}

async function join(
  transaction: Transaction<Schema>,
  row: Selectable<InvitationsTable>,
  joining: { readonly organisation: Organisation; readonly acceptance: Acceptance },
): Promise<Written<AcceptOutcome>> {
  const { organisation, acceptance } = joining
  const { role, monthlyCap, policy } = decodeInvitation(row)
  const joined = {
    id: acceptance.member,
    organisationId: organisation.id,
    accountId: acceptance.person,
    role,
    monthlyCap,
    policy,
    joinedAt: acceptance.at,
  }
  // Revoking and resending do not wait for the organisation's lock: the first to change this row wins.
  const { numUpdatedRows } = await transaction
    .updateTable('invitations')
    .set({ status: 'accepted' })
    .where('id', '=', row.id)
    .where('token_hash', '=', row.token_hash)
    .where('status', '=', 'pending')
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return { value: { kind: 'none' }, changes: [] }
  await insertMember(transaction, joined)
  await transaction
    .updateTable('invitations')
    .set({ member_id: acceptance.member })
    .where('id', '=', row.id)
    .execute()
  const member = await transaction
    .selectFrom('members')
    .selectAll()
    .where('id', '=', acceptance.member)
    .executeTakeFirstOrThrow()
  return {
    value: { kind: 'accepted', organisation, member: decodeMember({ ...member }) },
    changes: [
      { kind: 'account', accountId: organisation.id },
      { kind: 'account', accountId: acceptance.person },
    ],
  }
}

async function findBy(
  reader: Kysely<Schema>,
  column: 'id' | 'token_hash',
  value: string,
): Promise<Invitation | undefined> {
  const row = await findRow(reader, column, value)
  return row === undefined ? undefined : decodeInvitation(row)
}

function findRow(reader: Kysely<Schema>, column: 'id' | 'token_hash', value: string) {
  return reader.selectFrom('invitations').selectAll().where(column, '=', value).executeTakeFirst()
}

function decodeInvitation(row: Selectable<InvitationsTable>): Invitation {
  return {
    id: row.id,
    organisationId: accountId(row.organisation_id),
    email: row.email,
    role: decodeRole(row.role),
    monthlyCap: microCredits(row.monthly_cap),
    policy: decodePolicy(row.policy),
    invitedBy: accountId(row.invited_by),
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
    status: statusOf(row.status),
    tokenHash: row.token_hash,
  }
}

function statusOf(text: string): Invitation['status'] {
  if (text === 'pending' || text === 'accepted' || text === 'revoked') return text
  throw new Error(`a stored invitation has the status ${text}`)
}
