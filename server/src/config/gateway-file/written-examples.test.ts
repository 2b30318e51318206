import { sampleKind } from '../../../test/management/sample-catalogue.ts'
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { UNLIMITED } from '../../core/limits/policy.ts'
import { loadGatewayFile } from './load.ts'

/** What a reader copies has to work: the page of this repository, and the text the form was written down in. */
const PAGES = {
  'docs/reference/gateway-file.md': new URL('../../../../docs/reference/gateway-file.md', import.meta.url),
  'the specification beside the checkout': new URL(
    '../../../../../shared/spec/gateway-file.md',
    import.meta.url,
  ),
}

test.for(Object.entries(PAGES))('the example of %s can be applied', ([, page], { skip }) => {
  if (!existsSync(page)) skip('the text is not there')
  const example = /```yaml\n([\s\S]*?)```/.exec(readFileSync(page, 'utf8'))?.[1]
  // The page leaves the rest of the key to the reader.
  const text = example?.replace('sk-gateway-…', 'sk-gateway-0123456789') ?? ''
  const loaded = loadGatewayFile({
    text,
    environment: { OPENAI_API_KEY: 'a', OWNER_PASSWORD: 'b', MY_OPENAI_KEY: 'c' },
    kinds: [sampleKind('openai')],
    missing: 'stays',
    known: {
      settings: {
        currency: 'CNY',
        creditsPerUnit: '1000',
        otherCurrencies: { USD: '7200' },
        timezone: 'Asia/Shanghai',
        keyPrefix: 'sk-gateway-',
        limits: UNLIMITED,
      },
      vendors: new Map(),
      credentials: new Map(),
      models: new Map(),
      groups: new Map(),
      plans: new Map(),
    },
  })
  expect(loaded.kind === 'mistakes' ? loaded.mistakes : []).toEqual([])
  expect(loaded.kind === 'file' && loaded.file.accounts?.[0]?.keys?.[0]?.name).toBe('laptop')
})
