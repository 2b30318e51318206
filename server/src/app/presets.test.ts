import { expect, test } from 'vitest'
import { Secret } from '../core/secret.ts'
import { openTestStore, TEST_TIME } from '../../test/management/open-store.ts'
import { addPreset } from '../management/admin/presets.ts'
import { knownPresets } from './presets.ts'

const ACTOR = {
  accountId: undefined,
  name: 'somebody',
  sessionId: undefined,
  address: '',
  requestId: undefined,
  at: TEST_TIME,
}

test('a preset in a currency that has no rate is refused, and nothing of it is added', async () => {
  const { storage, close } = await openTestStore()
  try {
    const { settings } = await storage.catalogue.read()
    await storage.catalogue.apply([{ kind: 'put-settings', settings: { ...settings, otherCurrencies: {} } }])
    const add = (code: string) => {
      const preset = knownPresets({}).find((known) => known.code === code)
      if (preset === undefined) throw new Error(`no preset ${code}`)
      return addPreset(storage, preset, { choice: { models: undefined, key: new Secret('k') }, actor: ACTOR })
    }
    expect(await add('openai')).toMatchObject({
      kind: 'conflict',
      message: { rule: 'preset-without-rate', values: { name: 'OpenAI', currency: 'USD' } },
    })
    expect((await storage.catalogue.read()).vendors.size).toBe(0)
    expect(await add('deepseek')).toMatchObject({ kind: 'done' })
  } finally {
    await close()
  }
})
