/** Calls of members' keys: decided together with their organisation's account, under its lock. */
import { expect, test } from 'vitest'
import {
  CHAIN,
  credits,
  exampleAbandon,
  exampleReserve,
  exampleSettle,
  MODEL,
} from '../../core/calls/examples.ts'
import { NO_USAGE } from '../../core/canonical/usage.ts'
import { accountId, callId, instanceId, keyId, memberId } from '../../core/ids.ts'
import type { MemberPatch } from '../stores/organisations.ts'
import type { Storage } from '../storage.ts'
import { createTeam, join, memberKey, PERSON, PERSON_MEMBER, TEAM } from './organisations.ts'
import { exampleGrant, NOW, settleTwoCredits, type StorageSuite, TWO_CREDITS, recover } from './suite.ts'

const MEMBER_KEY = keyId('key_member')
const OWN_KEY = keyId('key_own')
const LATER = NOW + 120_000

export function describeMemberCalls(suite: StorageSuite): void {
  const open = async (patch: MemberPatch = {}) => {
    const database = await suite.createDatabase()
    const storage = await database.open()
    await createTeam(storage)
    await fill(storage, patch)
    return { database, storage }
  }

  test('of 200 parallel calls of a member whose cap funds exactly 7, exactly 7 pass', async () => {
    const { storage } = await open({ monthlyCap: credits(11 * 7 + 10) })
    expect(await countPassed([storage], 200)).toBe(7)
    expect(await storage.organisations.findMember(PERSON_MEMBER)).toMatchObject({ monthHeld: credits(77) })
    expect(await storage.accounts.find(TEAM)).toMatchObject({ held: credits(77), monthHeld: credits(77) })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('exactly as many pass over three processes, and the organisation pays for all of them', async () => {
    const cap = credits(11 * 7 + 10)
    const { database, storage } = await open({ monthlyCap: cap })
    const processes = [storage, await database.open(), await database.open()]
    const passed = await passedCalls(processes, 60)
    expect(passed).toHaveLength(7)
    // Each costs 20 Credits in the end, more than it held.
    await Promise.all(
      passed.map((id, index) =>
        (processes[index % 3] ?? storage).calls.settle(
          exampleSettle(id, { usage: { output: 2_000 } }, whose()),
        ),
      ),
    )
    const member = await storage.organisations.findMember(PERSON_MEMBER)
    expect(member).toMatchObject({ monthSpent: credits(140), monthHeld: 0n })
    expect(await storage.accounts.find(TEAM)).toMatchObject({
      monthSpent: credits(140),
      held: 0n,
      monthHeld: 0n,
      owed: 0n,
    })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('a key of no member is held to no member’s cap', async () => {
    const { storage } = await open({ monthlyCap: credits(1) })
    expect(await reserve(storage, 'theirs')).toMatchObject({ refusal: { code: 42906 } })
    expect(await reserve(storage, 'own', OWN_KEY)).toMatchObject({ kind: 'reserved' })
  })

  test('a repeated settlement counts once, an abandoned call not at all', async () => {
    const { storage } = await open({ monthlyCap: credits(100) })
    await Promise.all([reserve(storage, 'call_1'), reserve(storage, 'call_2')])
    expect(await storage.ledger.verify()).toEqual([])
    const settle = settleTwoCredits('call_1', whose())
    await Promise.all([storage.calls.settle(settle), storage.calls.settle(settle)])
    await storage.calls.abandon(exampleAbandon('call_2', whose()))
    const member = await storage.organisations.findMember(PERSON_MEMBER)
    expect(member).toMatchObject({ monthSpent: TWO_CREDITS, monthHeld: 0n })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('a policy of the member holds all their keys over two processes, and survives closing', async () => {
    const { database, storage } = await open({
      policy: { concurrency: undefined, windows: [{ dimension: 'requests', limit: 5, seconds: 60 }] },
    })
    expect(await countPassed([storage, await database.open()], 20)).toBe(5)
    await storage.close()
    const again = await database.open()
    expect(await reserve(again, 'one_more')).toMatchObject({ refusal: { code: 42902 } })
    expect(await again.ledger.verify()).toEqual([])
  })

  test.each([
    [
      'suspended',
      40102,
      (storage) => storage.organisations.patchMember(PERSON_MEMBER, { status: 'suspended' }),
    ],
    [
      'removed with their keys',
      40101,
      (storage) => storage.organisations.removeMember(PERSON_MEMBER, { keys: 'delete' }),
    ],
    ['suspended as a person', 40303, (storage) => storage.accounts.patch(PERSON, { status: 'suspended' })],
  ] as const satisfies readonly (readonly [string, number, (storage: Storage) => Promise<unknown>])[])(
    'a member who was %s is refused on the very next call of every process, and the running one is settled',
    async (_what, code, act) => {
      const { database, storage } = await open({ monthlyCap: credits(100) })
      const other = await database.open()
      expect(await reserve(other, 'before')).toMatchObject({ kind: 'reserved' })
      await act(storage)
      for (const calling of [storage, other]) {
        expect(await reserve(calling, 'after')).toMatchObject({ kind: 'refused', refusal: { code } })
      }
      const settled = await other.calls.settle(settleTwoCredits('before', whose()))
      expect(settled).toMatchObject({ first: true, deducted: TWO_CREDITS })
      expect(await storage.organisations.callingMember(PERSON_MEMBER)).toMatchObject({
        monthSpent: TWO_CREDITS,
        monthHeld: 0n,
      })
      expect(await storage.ledger.verify()).toEqual([])
    },
  )

  test('a cap that is changed while calls run counts from the next call on', async () => {
    const { database, storage } = await open({ monthlyCap: credits(100) })
    const other = await database.open()
    await reserve(other, 'call_1')
    await storage.organisations.patchMember(PERSON_MEMBER, { monthlyCap: credits(12) })
    expect(await reserve(other, 'call_2')).toMatchObject({ refusal: { code: 42906, retryAfterMs: 1_000 } })
    await other.calls.settle(settleTwoCredits('call_1', whose()))
    expect(await reserve(other, 'call_3')).toMatchObject({ refusal: { code: 42906 } })
    await storage.organisations.patchMember(PERSON_MEMBER, { monthlyCap: credits(13) })
    expect(await reserve(other, 'call_4')).toMatchObject({ kind: 'reserved' })
  })

  test('calls of a dead instance are settled for their member too', async () => {
    const { storage } = await open({ monthlyCap: credits(100) })
    const dead = instanceId('dead')
    await storage.calls.heartbeat(dead, NOW)
    for (const id of ['call_1', 'call_2']) {
      await storage.calls.reserve({ ...exampleReserve(id, whose()), instanceId: dead })
    }
    await storage.calls.progress({
      callId: callId('call_1'),
      at: NOW + 10,
      chainId: CHAIN,
      modelId: MODEL,
      byok: false,
      usage: { ...NO_USAGE, input: 1000, output: 100 },
      usageSource: 'upstream',
      images: 0,
    })
    const bounds = { at: LATER, deadBefore: LATER - 30_000, leakedBefore: LATER - 600_000 }
    expect(await recover(storage, bounds)).toBe(2)
    const member = await storage.organisations.findMember(PERSON_MEMBER)
    expect(member).toMatchObject({ monthSpent: TWO_CREDITS, monthHeld: 0n })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('members’ calls beside plain ones of other accounts share batches', async () => {
    const { storage } = await open({ monthlyCap: credits(1_000) })
    await storage.ledger.book([exampleGrant(PERSON, { amount: credits(1_000) })])
    const plain = keyId('key_plain')
    await storage.keys.create(
      memberKey('key_plain', { accountId: PERSON, memberId: undefined, hash: '9'.repeat(64) }),
    )
    const ids = Array.from({ length: 60 }, (_, index) => index)
    const caller = (index: number) =>
      index % 3 === 0 ? { keyId: plain, accountId: PERSON } : whose(index % 3 === 1 ? MEMBER_KEY : OWN_KEY)
    await Promise.all(ids.map((n) => storage.calls.reserve(exampleReserve(`call_${n}`, caller(n)))))
    await Promise.all(ids.map((n) => storage.calls.settle(settleTwoCredits(`call_${n}`, caller(n)))))
    const member = await storage.organisations.findMember(PERSON_MEMBER)
    expect(member).toMatchObject({ monthSpent: credits(40), monthHeld: 0n })
    expect(await storage.accounts.find(TEAM)).toMatchObject({ monthSpent: credits(80) })
    expect(await storage.accounts.find(PERSON)).toMatchObject({ monthSpent: credits(40) })
    expect(await storage.ledger.verify()).toEqual([])
  })

  test('a key that says a member of another organisation is unknown', async () => {
    const { storage } = await open()
    const other = accountId('acc_other_team')
    const organisation = { id: other, name: 'Other', createdAt: NOW }
    await storage.organisations.create(organisation, { id: memberId('mem_other'), accountId: PERSON })
    await storage.ledger.book([exampleGrant(other, { amount: credits(100) })])
    await storage.keys.create(memberKey('key_odd', { accountId: other, hash: '8'.repeat(64) }))
    const odd = { keyId: keyId('key_odd'), accountId: other }
    expect(await storage.calls.reserve(exampleReserve('call_1', odd))).toMatchObject({
      refusal: { code: 40101 },
    })
  })

  test('an organisation is not closed while a call of it runs', async () => {
    const { storage } = await open()
    await reserve(storage, 'call_1')
    const close = () => storage.organisations.close(TEAM, { at: NOW, forfeit: 'allow' })
    expect(await close()).toEqual({ kind: 'calls-run', calls: 1 })
    await storage.calls.settle(settleTwoCredits('call_1', whose()))
    expect(await close()).toMatchObject({ kind: 'closed' })
    expect(await reserve(storage, 'call_2')).toMatchObject({ kind: 'refused', refusal: { code: 40101 } })
  })

  test.each([
    ['holds what no call holds', `update members set month_held = 7 where id = '${PERSON_MEMBER}'`],
    [
      'spent more than the organisation',
      `update members set month_spent = 9000000 where id = '${PERSON_MEMBER}'`,
    ],
    ['is a month ahead', `update members set month_start = 500 where id = '${PERSON_MEMBER}'`],
  ])('verify sees a member who %s', async (_what, statement) => {
    const { database, storage } = await open({ monthlyCap: credits(100) })
    await reserve(storage, 'call_1')
    await storage.calls.settle(settleTwoCredits('call_1', whose()))
    expect(await storage.ledger.verify()).toEqual([])
    await database.execute(statement)
    expect(await storage.ledger.verify()).toHaveLength(1)
  })
}

/** A member with a key, a key of the organisation's own, and Credits for both. */
async function fill(storage: Storage, patch: MemberPatch): Promise<void> {
  await join(storage)
  await storage.organisations.patchMember(PERSON_MEMBER, patch)
  await storage.keys.create(memberKey(MEMBER_KEY, { hash: '1'.repeat(64) }))
  await storage.keys.create(memberKey(OWN_KEY, { memberId: undefined, hash: '2'.repeat(64) }))
  await storage.ledger.book([exampleGrant(TEAM, { amount: credits(10_000) })])
}

const whose = (key = MEMBER_KEY) => ({ keyId: key, accountId: TEAM })

function reserve(storage: Storage, id: string, key = MEMBER_KEY) {
  return storage.calls.reserve(exampleReserve(id, whose(key)))
}

const countPassed = async (storages: readonly Storage[], calls: number): Promise<number> =>
  (await passedCalls(storages, calls)).length

async function passedCalls(storages: readonly Storage[], calls: number): Promise<readonly string[]> {
  const asked = storages.flatMap((storage, index) =>
    Array.from({ length: calls }, (_, call) => ({ storage, id: `call_${index}_${call}` })),
  )
  const outcomes = await Promise.all(asked.map(({ storage, id }) => reserve(storage, id)))
  return asked.filter((_, index) => outcomes[index]?.kind === 'reserved').map(({ id }) => id)
}
