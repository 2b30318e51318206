import { expect, test } from 'vitest'
import { ACCOUNT, credits, exampleLog } from '../../core/calls/examples.ts'
import { accountId, callId, type KeyId, keyId, type MemberId, memberId } from '../../core/ids.ts'
import { UNLIMITED } from '../../core/limits/policy.ts'
import { StorageConflict } from '../failures/conflict.ts'
import type { Invitation, Member } from '../stores/organisations.ts'
import type { Storage } from '../storage.ts'
import { exampleApiKey, exampleGrant, listen, NOW, type StorageSuite } from './suite.ts'

export const TEAM = accountId('acc_team')
const OWNER = accountId('acc_owner')
export const PERSON = accountId('acc_person')
const OWNER_MEMBER = memberId('mem_1')
export const PERSON_MEMBER = memberId('mem_2')
const TOKEN = 'a'.repeat(64)

export function describeOrganisations(suite: StorageSuite): void {
  test('an organisation is an account nobody signs in as, with its first owner', async () => {
    const storage = await openWithTeam(suite)
    expect(await storage.accounts.find(TEAM)).toMatchObject({
      kind: 'organisation',
      email: undefined,
      passwordHash: undefined,
      status: 'active',
      credits: 0n,
    })
    expect(await storage.accounts.find(OWNER)).toMatchObject({ kind: 'person' })
    const organisation = { id: TEAM, name: 'The Team', createdAt: NOW }
    const owner = exampleMember(OWNER_MEMBER, { accountId: OWNER, role: 'owner' })
    expect(await storage.organisations.find(TEAM)).toEqual(organisation)
    expect(await storage.organisations.list({ limit: 5, after: undefined })).toEqual([organisation])
    expect(await storage.organisations.listOf(OWNER)).toEqual([{ organisation, member: owner }])
    expect(await storage.organisations.member(TEAM, OWNER)).toEqual(owner)
    expect(await storage.organisations.findMember(OWNER_MEMBER)).toEqual(owner)
    expect(await storage.organisations.members(TEAM, { limit: 5, after: undefined })).toEqual([
      { ...owner, email: 'founder@example.com', phone: undefined, name: undefined, personStatus: 'active' },
    ])
    expect(await storage.organisations.member(TEAM, PERSON)).toBeUndefined()
    expect(await storage.organisations.find(ACCOUNT)).toBeUndefined()
    const kinds = await storage.accounts.list({ limit: 5, after: undefined, kind: 'organisation' })
    expect(kinds.map(({ id }) => id)).toEqual([TEAM])
    expect(await storage.organisations.rename(TEAM, 'Another')).toBe(true)
    expect(await storage.organisations.find(TEAM)).toMatchObject({ name: 'Another' })
    expect(await storage.organisations.rename(OWNER, 'No')).toBe(false)
    const again = storage.organisations.create(organisation, { id: memberId('mem_9'), accountId: OWNER })
    await expect(again).rejects.toThrow(StorageConflict)
  })

  test('an invitation is accepted once, by the person whose address was invited', async () => {
    const storage = await openWithTeam(suite)
    const { organisations } = storage
    const invitation = exampleInvitation({ email: 'Person@Example.com', monthlyCap: credits(5) })
    expect(await organisations.invite(invitation)).toBe('invited')
    const stored: Invitation = { ...invitation, email: 'person@example.com', status: 'pending' }
    expect(await organisations.findInvitation(TOKEN)).toEqual(stored)
    expect(await organisations.findInvitationById('inv_1')).toEqual(stored)
    expect(await organisations.invitations(TEAM, { limit: 5, after: undefined })).toEqual([stored])
    const accept = (person = PERSON, member = PERSON_MEMBER, at = NOW) =>
      organisations.acceptInvitation({ tokenHash: TOKEN, person, member, at })
    expect(await accept(OWNER)).toEqual({ kind: 'other-address' })
    expect(await accept(PERSON, PERSON_MEMBER, invitation.expiresAt)).toEqual({ kind: 'none' })
    const several = await Promise.all([1, 2, 3, 4].map((n) => accept(PERSON, memberId(`mem_try_${n}`))))
    const members = several.map((outcome) => (outcome.kind === 'accepted' ? outcome.member : undefined))
    expect(new Set(members.map((member) => member?.id)).size).toBe(1)
    expect(members[0]).toMatchObject({ accountId: PERSON, role: 'member', monthlyCap: credits(5) })
    expect(await organisations.listOf(PERSON)).toHaveLength(1)
    expect(await accept(OWNER)).toEqual({ kind: 'none' })
    expect(await organisations.invite(exampleInvitation({ id: 'inv_2', tokenHash: 'b' }))).toBe('member')
    expect(await organisations.revokeInvitation('inv_1')).toBe(false)
  })

  test('an address has one invitation at a time, which is sent again, revoked or expires', async () => {
    const { organisations } = await openWithTeam(suite)
    expect(await organisations.invite(exampleInvitation())).toBe('invited')
    expect(await organisations.invite(exampleInvitation({ id: 'inv_2', tokenHash: 'b' }))).toBe('pending')
    expect(await organisations.renewInvitation('inv_1', { tokenHash: 'c', expiresAt: NOW + 9 })).toBe(true)
    expect(await organisations.findInvitation(TOKEN)).toBeUndefined()
    expect(await organisations.findInvitation('c')).toMatchObject({ expiresAt: NOW + 9 })
    const late = exampleInvitation({ id: 'inv_3', tokenHash: 'd', createdAt: NOW + 9, expiresAt: NOW + 20 })
    expect(await organisations.invite(late)).toBe('invited')
    expect(await organisations.findInvitation('c')).toMatchObject({ status: 'revoked' })
    expect(await organisations.revokeInvitation('inv_3')).toBe(true)
    const accept = { tokenHash: 'd', person: PERSON, member: PERSON_MEMBER, at: NOW + 9 }
    expect(await organisations.acceptInvitation(accept)).toEqual({ kind: 'none' })
    expect(await organisations.renewInvitation('inv_3', { tokenHash: 'e', expiresAt: NOW })).toBe(false)
    const none = exampleInvitation({ id: 'inv_4', tokenHash: 'f', organisationId: OWNER })
    expect(await organisations.invite(none)).toBe('none')
    const pending = { limit: 5, after: undefined, status: 'pending' } as const
    expect(await organisations.invitations(TEAM, pending)).toEqual([])
  })

  test('an invitation is shown for 30 days after its end, and then forgotten', async () => {
    const { organisations, identity } = await openWithTeam(suite)
    const { expiresAt } = exampleInvitation()
    await organisations.invite(exampleInvitation())
    const month = 30 * 86_400_000
    const page = { limit: 5, after: undefined }
    await identity.expire(expiresAt + month)
    expect(await organisations.invitations(TEAM, page)).toHaveLength(1)
    await identity.expire(expiresAt + month + 1)
    expect(await organisations.invitations(TEAM, page)).toEqual([])
  })

  test('the last active owner is not removed, demoted or suspended, however many ask at once', async () => {
    const storage = await openWithTeam(suite)
    const { organisations } = storage
    const change = (id: MemberId) => [
      organisations.removeMember(id, { keys: 'delete' }),
      organisations.patchMember(id, { role: 'admin' }),
      organisations.patchMember(id, { status: 'suspended' }),
    ]
    expect(await Promise.all(change(OWNER_MEMBER))).toEqual(['last-owner', 'last-owner', 'last-owner'])
    expect(await organisations.patchMember(OWNER_MEMBER, { monthlyCap: credits(3) })).toBe('done')
    await join(storage)
    expect(await organisations.patchMember(PERSON_MEMBER, { role: 'owner' })).toBe('done')
    await storage.accounts.patch(PERSON, { status: 'suspended' })
    expect(await organisations.removeMember(OWNER_MEMBER, { keys: 'delete' })).toBe('last-owner')
    await storage.accounts.patch(PERSON, { status: 'active' })
    const both = await Promise.all([
      organisations.patchMember(OWNER_MEMBER, { role: 'member' }),
      organisations.removeMember(PERSON_MEMBER, { keys: 'delete' }),
    ])
    expect(both.toSorted()).toEqual(['done', 'last-owner'])
    const left = await organisations.members(TEAM, { limit: 5, after: undefined })
    expect(left.filter(({ role }) => role === 'owner')).toHaveLength(1)
    expect(await organisations.patchMember(memberId('nobody'), { role: 'admin' })).toBe('none')
  })

  test('a change that is meant for some roles leaves a member of another alone', async () => {
    const storage = await openWithTeam(suite)
    await join(storage)
    const { organisations } = storage
    const guard = { roles: ['member', 'admin'] } as const
    expect(await organisations.patchMember(OWNER_MEMBER, { monthlyCap: credits(1) }, guard)).toBe(
      'other-role',
    )
    expect(await organisations.removeMember(OWNER_MEMBER, { keys: 'keep', ...guard })).toBe('other-role')
    expect(await organisations.patchMember(PERSON_MEMBER, { role: 'admin' }, guard)).toBe('done')
    expect(await organisations.findMember(PERSON_MEMBER)).toMatchObject({ role: 'admin' })
  })

  test('keys of a member who goes are deleted, or become the organisation’s own', async () => {
    const storage = await openWithTeam(suite)
    await join(storage)
    await storage.keys.create(memberKey('key_1', { hash: '1'.repeat(64) }))
    const heard = listen(storage)
    expect(await storage.organisations.removeMember(PERSON_MEMBER, { keys: 'keep' })).toBe('done')
    expect(heard()).toContainEqual({ kind: 'key', hash: '1'.repeat(64) })
    expect(await storage.keys.find(keyId('key_1'))).toMatchObject({ memberId: undefined, status: 'enabled' })
    const again = memberId('mem_again')
    await join(storage, again)
    await storage.keys.create(memberKey('key_2', { hash: '2'.repeat(64), memberId: again }))
    await storage.keys.rotate(
      keyId('key_2'),
      { hash: '3'.repeat(64), hint: 'x' },
      { formerUntil: NOW + 9, at: NOW },
    )
    expect(await storage.keys.list(TEAM, { member: again })).toHaveLength(1)
    expect(await storage.organisations.removeMember(again, { keys: 'delete' })).toBe('done')
    for (const hash of ['2', '3']) expect(heard()).toContainEqual({ kind: 'key', hash: hash.repeat(64) })
    expect(await storage.keys.findByHash('3'.repeat(64))).toBeUndefined()
    expect(await storage.keys.list(TEAM, { member: again })).toEqual([])
    const deleted = await storage.keys.list(TEAM, { member: again, ever: 'included' })
    expect(deleted.map(({ id }) => id)).toEqual(['key_2'])
    expect(await storage.organisations.listOf(PERSON)).toEqual([])
    expect(await storage.organisations.findMember(again)).toBeUndefined()
    expect(await storage.keys.list(TEAM)).toHaveLength(1)
  })

  test('an owner moves Credits of their own to the organisation, once per idempotency key', async () => {
    const storage = await openWithTeam(suite)
    await join(storage)
    await storage.ledger.book([exampleGrant(OWNER, { amount: credits(10) })])
    const funding = {
      organisation: TEAM,
      person: OWNER,
      pool: 'credits',
      amount: credits(4),
      transactionId: 'funding_1',
      idempotency: { key: 'k', fingerprint: 'f' },
      at: NOW,
    } as const
    const { organisations } = storage
    const outcomes = await Promise.all(
      [1, 2, 3].map((n) => organisations.fund({ ...funding, transactionId: `funding_${n}` })),
    )
    expect(outcomes.filter((one) => one.kind === 'funded' && !one.repeated)).toHaveLength(1)
    expect(new Set(outcomes.map((one) => one.kind === 'funded' && one.transactionId)).size).toBe(1)
    const other = { ...funding, idempotency: { key: 'k', fingerprint: 'other' } }
    expect(await organisations.fund(other)).toEqual({ kind: 'other-request' })
    const tooMuch = { ...funding, amount: credits(7), idempotency: undefined, transactionId: 'funding_9' }
    expect(await organisations.fund(tooMuch)).toEqual({ kind: 'too-little', available: credits(6) })
    expect(await organisations.fund({ ...tooMuch, person: PERSON })).toEqual({ kind: 'none' })
    expect(await storage.accounts.find(TEAM)).toMatchObject({ credits: credits(4) })
    expect(await storage.accounts.find(OWNER)).toMatchObject({ credits: credits(6) })
    expect(await storage.ledger.verify()).toEqual([])
    const shown = await storage.ledger.transfers({ accountId: TEAM, limit: 5, after: undefined })
    expect(shown).toMatchObject([{ kind: 'transfer', credit: `${TEAM}/credits`, amount: credits(4) }])
  })

  test('an organisation is closed for good, without running calls and with its Credits given up in words', async () => {
    const storage = await openWithTeam(suite)
    await join(storage)
    await storage.keys.create(memberKey('key_1', { hash: '1'.repeat(64) }))
    await storage.ledger.book([exampleGrant(TEAM, { amount: credits(3) })])
    const { organisations } = storage
    await organisations.invite(exampleInvitation({ email: 'third@example.com' }))
    const left = { credits: credits(3), balance: 0n }
    expect(await organisations.close(TEAM, { at: NOW, forfeit: 'refuse' })).toEqual({
      kind: 'money-left',
      ...left,
    })
    expect(await organisations.find(TEAM)).toBeDefined()
    expect(await organisations.close(TEAM, { at: NOW, forfeit: 'allow' })).toEqual({
      kind: 'closed',
      ...left,
    })
    expect(await organisations.find(TEAM)).toBeUndefined()
    expect(await organisations.close(TEAM, { at: NOW, forfeit: 'allow' })).toEqual({ kind: 'none' })
    expect(await organisations.listOf(OWNER)).toEqual([])
    expect(await organisations.member(TEAM, OWNER)).toBeUndefined()
    expect(await organisations.findInvitation(TOKEN)).toMatchObject({ status: 'revoked' })
    expect(await storage.keys.list(TEAM)).toEqual([])
    expect(await storage.accounts.find(TEAM)).toMatchObject({ status: 'suspended', credits: credits(3) })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('the log of several keys is theirs alone, newest first, and of no key nothing', async () => {
    const storage = await openWithTeam(suite)
    for (let call = 0; call < 12; call++) {
      const log = exampleLog(`call_${call}`, {
        callId: callId(`call_${String(call).padStart(2, '0')}`),
        accountId: TEAM,
        keyId: keyId(`key_${call % 3}`),
        createdAt: NOW + call,
        httpStatus: call % 2 === 0 ? 200 : 500,
      })
      await storage.calls.log({ log })
    }
    const page = async (filter: { keyIds: readonly KeyId[]; status?: number }) => {
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const { rows, next } = await storage.logs.page({ accountId: TEAM, ...filter }, { limit: 3, cursor })
        seen.push(...rows.map((row) => row.callId))
        cursor = next
      } while (cursor !== undefined)
      return seen.map((id) => Number(id.slice(5)))
    }
    const two = [keyId('key_0'), keyId('key_2')]
    expect(await page({ keyIds: two })).toEqual([11, 9, 8, 6, 5, 3, 2, 0])
    expect(await page({ keyIds: two, status: 500 })).toEqual([11, 9, 5, 3])
    const many = [...two, ...Array.from({ length: 40 }, (_, index) => keyId(`other_${index}`))]
    expect(await page({ keyIds: many })).toEqual([11, 9, 8, 6, 5, 3, 2, 0])
    expect(await page({ keyIds: [] })).toEqual([])
  })
}

export async function openWithTeam(suite: StorageSuite): Promise<Storage> {
  const storage = await (await suite.createDatabase()).open()
  await createTeam(storage)
  return storage
}

export async function createTeam(storage: Storage): Promise<void> {
  await storage.accounts.create({ id: OWNER, createdAt: NOW, email: 'founder@example.com' })
  await storage.accounts.create({ id: PERSON, createdAt: NOW, email: 'person@example.com' })
  const organisation = { id: TEAM, name: 'The Team', createdAt: NOW }
  await storage.organisations.create(organisation, { id: OWNER_MEMBER, accountId: OWNER })
}

/** Makes the person a member. */
export async function join(
  storage: Storage,
  member = PERSON_MEMBER,
  changes: Partial<Invitation> = {},
): Promise<void> {
  const tokenHash = `token of ${member}`
  const { organisations } = storage
  await organisations.invite(exampleInvitation({ id: `inv ${member}`, tokenHash, ...changes }))
  await organisations.acceptInvitation({ tokenHash, person: PERSON, member, at: NOW })
}

function exampleInvitation(changes: Partial<Invitation> = {}): Omit<Invitation, 'status'> {
  return {
    id: 'inv_1',
    organisationId: TEAM,
    email: 'person@example.com',
    role: 'member',
    monthlyCap: credits(0),
    policy: UNLIMITED,
    invitedBy: OWNER,
    createdAt: NOW,
    expiresAt: NOW + 7,
    tokenHash: TOKEN,
    ...changes,
  }
}

function exampleMember(id: MemberId, changes: Partial<Member>): Member {
  return {
    id,
    organisationId: TEAM,
    accountId: PERSON,
    role: 'member',
    status: 'active',
    monthlyCap: credits(0),
    policy: UNLIMITED,
    monthStart: 0,
    monthSpent: credits(0),
    monthHeld: credits(0),
    joinedAt: NOW,
    ...changes,
  }
}

export function memberKey(id: string, changes: Partial<Parameters<typeof exampleApiKey>[0]> = {}) {
  return exampleApiKey({ id: keyId(id), accountId: TEAM, memberId: PERSON_MEMBER, ...changes })
}
