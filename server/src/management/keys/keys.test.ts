import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTestStore, TEST_TIME, type TestStore } from '../../../test/management/open-store.ts'
import { type AccountId, modelId } from '../../core/ids.ts'
import { Secret } from '../../core/secret.ts'
import { createAccount } from '../accounts/accounts.ts'
import { exportGatewayFile } from '../gateway-file/export-gateway-file.ts'
import {
  createKey,
  deleteKey,
  hashKeySecret,
  type KeyCreation,
  type KeyRequest,
  listKeys,
  setKeyStatus,
} from './keys.ts'

let store: TestStore
let owner: AccountId
beforeEach(async () => {
  store = await openTestStore()
  owner = await createAccount(store.storage, { email: 'owner@example.com' }, TEST_TIME)
})
afterEach(() => store.close())

function create(change: Partial<KeyRequest> = {}): Promise<KeyCreation> {
  return createKey(
    store.storage,
    {
      accountId: owner,
      name: 'laptop',
      secret: undefined,
      status: 'enabled',
      expiresAt: undefined,
      group: undefined,
      models: [],
      ipAllow: [],
      policy: undefined,
      ...change,
    },
    TEST_TIME,
  )
}

async function created(change: Partial<KeyRequest> = {}) {
  const creation = await create(change)
  if (creation.kind === 'refused') throw new Error(JSON.stringify(creation.mistakes))
  return creation
}

describe('a made key', () => {
  test('begins with the fixed prefix and goes on with 32 random bytes as base64url [2.6-01] [2.6-02]', async () => {
    const { plaintext } = await created()
    expect(plaintext.unwrap()).toMatch(/^sk-gateway-[A-Za-z0-9_-]{43}$/)
    expect((await created({ name: 'other' })).plaintext.unwrap()).not.toBe(plaintext.unwrap())
  })

  test('is whole in the answer to its creation [2.6-05]', async () => {
    const { plaintext, key } = await created()
    expect(await store.storage.keys.findByHash(hashKeySecret(plaintext))).toMatchObject({ id: key.id })
  })

  test('is shown in lists as the prefix and six characters, nothing longer [2.6-04]', async () => {
    const { plaintext } = await created()
    const [listed] = await listKeys(store.storage, owner)
    expect(listed?.hint).toBe(plaintext.unwrap().slice(0, 'sk-gateway-'.length + 6))
    expect(JSON.stringify(listed)).not.toContain(plaintext.unwrap().slice(0, 'sk-gateway-'.length + 7))
    expect(JSON.stringify(listed)).not.toContain(hashKeySecret(plaintext))
  })

  test('is stored nowhere: not in the database, not in any list, not in the export [2.6-03] [2.6-06] [5-12] [5-13]', async () => {
    const { plaintext } = await created()
    const secret = plaintext.unwrap().slice('sk-gateway-'.length)
    const texts = [
      JSON.stringify(await listKeys(store.storage, owner)),
      JSON.stringify(await store.storage.keys.list(owner)),
      await exportGatewayFile(store.storage, { format: 'yaml', at: TEST_TIME }),
    ]
    for (const name of await readdir(store.directory)) {
      texts.push(await readFile(join(store.directory, name), 'latin1'))
    }
    expect(texts.length).toBeGreaterThan(3)
    for (const text of texts) expect(text).not.toContain(secret)
  })

  test('is no more than its hint when it is logged by accident', async () => {
    const creation = await created()
    expect(JSON.stringify(creation)).not.toContain(creation.plaintext.unwrap())
  })
})

describe('what cannot be is refused, every mistake at once', () => {
  test('unknown group, unknown model, bad range, no name, wrong prefix', async () => {
    const refused = await create({
      name: ' ',
      secret: new Secret('sk-other-1'),
      group: 'none',
      models: [modelId('nobody')],
      ipAllow: ['10.0.0.0/8', 'everywhere'],
    })
    expect(refused).toMatchObject({
      kind: 'refused',
      mistakes: [
        { path: 'name', message: { text: 'must have 1 to 100 characters' } },
        {
          path: 'secret',
          message: { text: 'must begin with sk-gateway- and go on with letters, digits, - and _' },
        },
        { path: 'group', message: { text: 'refers to an unknown group: none' } },
        { path: 'models[0]', message: { text: 'refers to an unknown model: nobody' } },
        { path: 'ip_allow[1]', message: { text: 'is not a CIDR range: everywhere' } },
      ],
    })
    expect(await listKeys(store.storage, owner)).toEqual([])
  })

  test('the secret of another key', async () => {
    await created({ secret: new Secret('sk-gateway-fixed') })
    expect(await create({ name: 'second', secret: new Secret('sk-gateway-fixed') })).toMatchObject({
      kind: 'refused',
      mistakes: [{ path: 'secret', message: { text: 'is already the secret of another key' } }],
    })
  })
})

describe('a key', () => {
  test('may be bound to one group, and shows it [D-addresses-10]', async () => {
    await store.storage.catalogue.apply([
      { kind: 'put-group', group: { name: 'claude-code', protocol: 'messages', models: [] } },
    ])
    await created({ group: 'claude-code' })
    expect((await listKeys(store.storage, owner))[0]?.group).toBe('claude-code')
  })

  test('can be disabled and enabled again', async () => {
    const { key } = await created()
    expect(await setKeyStatus(store.storage, key.id, 'disabled')).toBe(true)
    expect((await listKeys(store.storage, owner))[0]?.status).toBe('disabled')
    expect(await setKeyStatus(store.storage, key.id, 'enabled')).toBe(true)
    expect((await listKeys(store.storage, owner))[0]?.status).toBe('enabled')
  })

  test('that is deleted is gone for good; one made anew has another secret [5-14]', async () => {
    const { key, plaintext } = await created()
    expect(await deleteKey(store.storage, key.id)).toBe(true)
    expect(await listKeys(store.storage, owner)).toEqual([])
    expect(await setKeyStatus(store.storage, key.id, 'enabled')).toBe(false)
    expect(await deleteKey(store.storage, key.id)).toBe(false)
    expect((await created()).plaintext.unwrap()).not.toBe(plaintext.unwrap())
  })
})
