import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { EXAMPLE_KINDS } from '../../../test/management/example-file.ts'
import { openTestStore, TEST_ACTOR, TEST_TIME, type TestStore } from '../../../test/management/open-store.ts'
import type { Catalogue } from '../../core/catalogue.ts'
import { type ModelId, modelId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'
import { applyGatewayFile } from '../gateway-file/apply-gateway-file.ts'
import { modelForm } from '../gateway-file/forms.ts'
import { editCatalogue } from './edit-catalogue.ts'

const START = `
vendors:
  - {code: local, kind: openai-compatible, base_url: "http://127.0.0.1:11434/v1"}
models:
  - {model_id: one, name: One, pricing: {input_price: 1, output_price: 1}}
  - {model_id: two, name: Two, pricing: {input_price: 1, output_price: 1}}
`
const [ONE, TWO] = [modelId('one'), modelId('two')]

describe.each(['SQLite', 'PostgreSQL'] as const)('two operators edit rows at once on %s', (engine) => {
  let store: TestStore
  let base: Catalogue
  beforeEach(async () => {
    store = await openTestStore(engine)
    const options = {
      text: START,
      missing: 'stays',
      environment: {},
      kinds: EXAMPLE_KINDS,
      at: TEST_TIME,
    } as const
    await applyGatewayFile(store.storage, { ...options, mode: 'apply' })
    base = await store.storage.catalogue.read()
  })
  afterEach(() => store.close())

  /** The model's whole row as it was when both looked at it, with what the body says. */
  function change(id: ModelId, body: JsonObject) {
    const model = base.models.get(id)
    if (model === undefined) throw new Error(`there is no model ${id}`)
    const edit = {
      base,
      fragment: { models: [{ ...modelForm(model), ...body }] },
      prefix: 'models[0]',
      action: 'model.change',
      subject: id,
    }
    return editCatalogue({ storage: store.storage, kinds: EXAMPLE_KINDS }, edit, TEST_ACTOR)
  }

  async function stored(): Promise<readonly string[]> {
    const { models } = await store.storage.catalogue.read()
    return [...models.values()].map(({ name, pricing }) => `${name} ${pricing.inputPrice ?? ''}`).toSorted()
  }

  async function entries(): Promise<number> {
    const page = await store.storage.audit.page({ action: 'model.change' }, { limit: 10, cursor: undefined })
    return page.entries.length
  }

  test.each([
    [
      'other fields',
      { name: 'First' },
      { pricing: { input_price: 2, output_price: 1 } },
      ['First 1', 'One 2'],
    ],
    ['the same field', { name: 'First' }, { name: 'Second' }, ['First 1', 'Second 1']],
  ])('and of one row, %s: the later one is told and undoes nothing', async (_, first, second, either) => {
    const ended = await Promise.all([change(ONE, first), change(ONE, second)])
    expect(ended.map(({ kind }) => kind).toSorted()).toEqual(['conflict', 'done'])
    const winner = ended.findIndex(({ kind }) => kind === 'done')
    expect(await stored()).toEqual([either[winner], 'Two 1'])
    expect(await entries()).toBe(1)
    expect(await store.storage.audit.verify()).toMatchObject({ kind: 'whole' })
  })

  test('and of two rows: both are written', async () => {
    const ended = await Promise.all([change(ONE, { name: 'First' }), change(TWO, { name: 'Second' })])
    expect(ended.map(({ kind }) => kind)).toEqual(['done', 'done'])
    expect(await stored()).toEqual(['First 1', 'Second 1'])
    expect(await entries()).toBe(2)
  })

  test('and who looks again may change it', async () => {
    await change(ONE, { name: 'First' })
    expect(await change(ONE, { name: 'Second' })).toMatchObject({ kind: 'conflict' })
    base = await store.storage.catalogue.read()
    expect(await change(ONE, { name: 'Second' })).toMatchObject({ kind: 'done' })
    expect(await stored()).toEqual(['Second 1', 'Two 1'])
  })
})
