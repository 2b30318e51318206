import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { EXAMPLE_KINDS } from '../../../test/management/example-file.ts'
import { openTestStore, TEST_ACTOR, type TestStore } from '../../../test/management/open-store.ts'
import type { Done } from './acts.ts'
import { applyReviewedFile, type FileRequest, type FileReview, reviewFile } from './apply-file.ts'

const START = `
vendors:
  - {code: local, kind: openai-compatible, base_url: "http://127.0.0.1:11434/v1"}
models:
  - {model_id: one, pricing: {input_price: 1, output_price: 1}}
  - {model_id: two, pricing: {input_price: 1, output_price: 1}}
groups:
  - {name: team, protocol: chat, models: [one]}
accounts:
  - {email: bo@example.com, password: a long password of bo, user_rate: 100}
`
const RATES = [90, 80] as const
const GROUPS = [['one', 'two'], ['two']] as const

describe.each(['SQLite', 'PostgreSQL'] as const)('two operators apply a file at once on %s', (engine) => {
  let store: TestStore
  beforeEach(async () => {
    store = await openTestStore(engine)
    await applyOne(requestOf(START))
  })
  afterEach(() => store.close())

  const parts = () => ({ storage: store.storage, kinds: EXAMPLE_KINDS })
  const requestOf = (text: string): FileRequest => ({ text, missing: 'stays' })

  async function reviewOf(request: FileRequest): Promise<string> {
    const looked = await reviewFile(parts(), request, TEST_ACTOR)
    if (looked.kind !== 'done') throw new Error(JSON.stringify(looked))
    return looked.value.review
  }

  async function applyOne(request: FileRequest): Promise<Done<FileReview>> {
    return applyReviewedFile(parts(), { ...request, review: await reviewOf(request) }, TEST_ACTOR)
  }

  /** Each was looked at before either is applied; returns which of them was. */
  async function applyAtOnce(texts: readonly string[]): Promise<readonly number[]> {
    const reviewed = await Promise.all(
      texts.map(async (text) => ({ ...requestOf(text), review: await reviewOf(requestOf(text)) })),
    )
    const ended = await Promise.all(
      reviewed.map((request) => applyReviewedFile(parts(), request, TEST_ACTOR)),
    )
    expect(ended.map(({ kind }) => kind).toSorted()).toEqual(['conflict', 'done'])
    return ended.flatMap(({ kind }, index) => (kind === 'done' ? [index] : []))
  }

  test('and what one of them has made of a group is not overwritten unseen', async () => {
    const [winner = 0] = await applyAtOnce(
      GROUPS.map((models) => JSON.stringify({ groups: [{ name: 'team', protocol: 'chat', models }] })),
    )
    const { groups } = await store.storage.catalogue.read()
    expect([...groups.values()].map(({ models }) => models)).toEqual([GROUPS[winner]])
    const { entries } = await store.storage.audit.page({ action: 'file.apply' }, PAGE)
    expect(entries).toHaveLength(2)
    expect(await store.storage.audit.verify()).toMatchObject({ kind: 'whole' })
  })

  test('and of the one that came too late nothing is written, neither of the catalogue nor of an account', async () => {
    const [winner = 0] = await applyAtOnce(
      RATES.map((rate, index) =>
        JSON.stringify({
          groups: [{ name: `group-${index}`, protocol: 'chat', models: ['one'] }],
          accounts: [{ email: 'bo@example.com', user_rate: rate, keys: [{ name: 'laptop' }] }],
        }),
      ),
    )
    const account = await store.storage.accounts.findByLogin({ email: 'bo@example.com' })
    expect(account?.userRate).toBe(String(RATES[winner]))
    const { groups } = await store.storage.catalogue.read()
    expect([...groups.keys()].toSorted()).toEqual([`group-${winner}`, 'team'])
    expect(account === undefined ? [] : await store.storage.keys.list(account.id)).toHaveLength(1)
  })

  test('and a new account is made once, with the entry of who made it', async () => {
    await applyAtOnce(
      ['one', 'two'].map((name) =>
        JSON.stringify({
          accounts: [{ email: 'new@example.com', password: 'a long password', keys: [{ name }] }],
        }),
      ),
    )
    const { entries } = await store.storage.audit.page({ action: 'account.create' }, PAGE)
    expect(entries).toHaveLength(2)
  })
})

const PAGE = { limit: 10, cursor: undefined }
