/** Organisations in the management API: whom mail goes to, what it says, and that no gateway file touches them. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { EXAMPLE_ENVIRONMENT, EXAMPLE_FILE, EXAMPLE_KINDS } from '../../../test/management/example-file.ts'
import { openTestStore, TEST_TIME, type TestStore } from '../../../test/management/open-store.ts'
import { accountId } from '../../core/ids.ts'
import { applyGatewayFile } from '../gateway-file/apply-gateway-file.ts'
import { exportGatewayFile } from '../gateway-file/export-gateway-file.ts'
import { newMemberId } from '../new-id.ts'
import { invitationText } from './message-texts.ts'
import { hasRight, rolesBelow } from './roles.ts'

const TEAM = accountId('acc_team')

describe('a gateway file', () => {
  let store: TestStore
  beforeEach(async () => {
    store = await openTestStore()
  })
  afterEach(() => store.close())

  const apply = (text: string) =>
    applyGatewayFile(store.storage, {
      text,
      environment: EXAMPLE_ENVIRONMENT,
      kinds: EXAMPLE_KINDS,
      missing: 'prune',
      mode: 'apply',
      at: TEST_TIME,
    })

  test('neither holds organisations nor switches them off by leaving them out', async () => {
    await apply(EXAMPLE_FILE)
    const [owner] = await store.storage.accounts.list({ limit: 1, after: undefined })
    if (owner === undefined) throw new Error('the file made no account')
    await store.storage.organisations.create(
      { id: TEAM, name: 'Acme', createdAt: TEST_TIME },
      { id: newMemberId(TEST_TIME), accountId: owner.id },
    )
    const text = await exportGatewayFile(store.storage, { format: 'yaml', at: TEST_TIME })
    expect(text).not.toContain(TEAM)
    expect(await apply(text)).toMatchObject({ kind: 'applied', differences: [] })
    expect(await store.storage.accounts.find(TEAM)).toMatchObject({ status: 'active' })
  })
})

describe('roles', () => {
  test.each([
    ['owner', 'owner', true],
    ['owner', 'member', true],
    ['admin', 'owner', false],
    ['admin', 'member', true],
    ['member', 'admin', false],
    ['member', 'member', true],
  ] as const)('%s has the right of %s: %s', (role, least, expected) => {
    expect(hasRight(role, least)).toBe(expected)
  })

  test.each([
    ['owner', ['owner', 'admin', 'member']],
    ['admin', ['admin', 'member']],
    ['member', []],
  ] as const)('%s gives and takes %j', (role, roles) => {
    expect(rolesBelow(role)).toEqual(roles)
  })
})

describe('the mail of an invitation', () => {
  const facts = {
    organisation: 'Acme',
    inviter: 'ann@example.com',
    role: 'member',
    token: 'invite-abc',
    expiresAt: Date.UTC(2027, 0, 2, 3, 4),
    publicUrl: 'https://sluice.example.com',
    consoleUrl: 'https://sluice.example.com/console',
  } as const

  test('says who invites to what, where and until when, in both languages; the token has a line of its own', () => {
    const { subject, text } = invitationText(facts)
    expect(subject).toBe('Join Acme · 加入 Acme')
    expect(text.split('\n')).toContain('invite-abc')
    expect(text.match(/ann@example\.com/g)).toHaveLength(2)
    expect(text.match(/https:\/\/sluice\.example\.com/g)).toHaveLength(3)
    // Behind the #, which no server sees.
    expect(text).toContain('https://sluice.example.com/console/organisation#invitation=invite-abc')
    expect(text.match(/2027-01-02 03:04 UTC/g)).toHaveLength(2)
  })

  test('names no address where none is known', () => {
    expect(invitationText({ ...facts, publicUrl: undefined, consoleUrl: undefined }).text).not.toMatch(
      /https?:|undefined/,
    )
  })
})
