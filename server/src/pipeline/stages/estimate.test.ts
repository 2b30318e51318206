import { describe, expect, test } from 'vitest'
import {
  sampleCatalogue,
  sampleChain,
  sampleModel,
  sampleVendor,
} from '../../../test/management/sample-catalogue.ts'
import type { Chain, Model, ProtocolId } from '../../core/catalogue.ts'
import { chainId } from '../../core/ids.ts'
import { CAP_DISTRUST_MS } from '../../core/metering/chain-observation.ts'
import { createRequestScanner } from '../../core/passthrough/requests/request-scan.ts'
import { createChainObservations } from '../instance/chains/chain-observations.ts'
import { estimateOf } from './estimate.ts'

const CONTEXT = 100_000
const OUTPUT = 8_000

function estimate(
  fields: object,
  {
    kind = 'openai',
    chain = {},
    model = {},
    broken = false,
    at = 0,
    protocol = 'chat',
  }: Partial<Situation> = {},
) {
  const chains = [
    sampleChain(1, 'm', 'acme', { protocol, ...chain }),
    sampleChain(2, 'm', 'acme', { protocol, priority: 2 }),
  ]
  const sample = sampleModel('m', chains, { contextTokens: CONTEXT, maxOutputTokens: OUTPUT, ...model })
  const catalogue = sampleCatalogue({ vendors: [sampleVendor('acme', { kind })], models: [sample] })
  const observations = createChainObservations(() => 0)
  // Another chain than the one that is tried first.
  if (broken) observations.finished(chainId(2), { outputTokens: 5_000, generatedMs: 1, tokenCap: 1 })
  const scanner = createRequestScanner(protocol)
  scanner.push(Buffer.from(JSON.stringify({ model: 'm', ...fields })))
  const scan = scanner.end()
  if (scan.kind === 'refused') throw new Error(scan.message)
  return {
    ...estimateOf(sample, { scan, at, endpoint: { protocol } }, { catalogue, observations }),
    bytes: scan.bodyBytes,
  }
}

interface Situation {
  readonly kind: string
  readonly chain: Partial<Chain>
  readonly model: Partial<Model>
  readonly broken: boolean
  readonly at: number
  readonly protocol: ProtocolId
}

describe('the most a call can write', () => {
  test.each<readonly [what: string, fields: object, situation: Partial<Situation>, worst: number]>([
    ['is the model’s maximum where the client named no cap', {}, {}, OUTPUT],
    ['is the client’s cap', { max_tokens: 500 }, {}, 500],
    ['is the cap for each answer', { max_tokens: 500, n: 60 }, {}, 30_000],
    ['is the larger of two caps', { max_tokens: 1, max_completion_tokens: 700 }, {}, 700],
    ['is never more than the model’s maximum', { max_tokens: 1_000_000 }, {}, OUTPUT],
    ['is at least what vendors raise a cap to', { max_tokens: 1 }, {}, 16],
    [
      'is the model’s maximum where any of its chains billed beyond a cap',
      { max_tokens: 1 },
      { broken: true },
      OUTPUT,
    ],
    [
      'is the cap again after an hour of good conduct',
      { max_tokens: 100 },
      { broken: true, at: CAP_DISTRUST_MS },
      100,
    ],
    [
      'is the model’s maximum where the vendor’s caps leave reasoning out',
      { max_tokens: 1 },
      { kind: 'dashscope' },
      OUTPUT,
    ],
    ['is a number where the model names none', {}, { model: { maxOutputTokens: undefined } }, 128_000],
  ])('%s', (_what, fields, situation, worst) => {
    expect(estimate(fields, situation).worstOutputTokens).toBe(worst)
  })
})

describe('the most a call can read', () => {
  test('is a token for each byte, and what vendors add', () => {
    const { worstInputTokens, bytes, inputTokens } = estimate({ messages: [{ content: '9'.repeat(4_000) }] })
    expect(worstInputTokens).toBe(bytes + 2_000)
    expect(worstInputTokens).toBeGreaterThan(inputTokens)
  })

  test('is the most any vendor counts for a picture, whatever its bytes', () => {
    const { worstInputTokens, bytes } = estimate({
      messages: [{ content: [{ type: 'image_url', image_url: { url: 'https://x/y' } }] }],
    })
    expect(worstInputTokens).toBe(bytes + 42_000)
  })

  test.each<readonly [what: string, fields: object]>([
    ['a file', { messages: [{ content: [{ type: 'file', file: { file_id: 'f' } }] }] }],
    ['more bytes than the model reads', { messages: [{ content: '9'.repeat(CONTEXT) }] }],
  ])('is the model’s context with %s', (_what, fields) => {
    expect(estimate(fields).worstInputTokens).toBe(CONTEXT)
  })

  test('is a number with a file where the model names no context', () => {
    const fields = { messages: [{ content: [{ type: 'file', file: { file_id: 'f' } }] }] }
    expect(estimate(fields, { model: { contextTokens: undefined } }).worstInputTokens).toBe(1_000_000)
  })

  /** Windows that a call reads which has `first` tokens and then one more result of 25 000 each time. */
  const windows = (first: number, uses: number): number =>
    Array.from({ length: uses + 1 }, (_, use) => Math.min(first + use * 25_000, CONTEXT)).reduce(
      (a, b) => a + b,
    )

  test.each<readonly [what: string, fields: object]>([
    ['a search of the web', { web_search_options: {} }],
    ['code at the vendor', { tools: [{ type: 'code_interpreter' }] }],
  ])('is one more reading for each use of %s, 10 of them, each with a large page more', (_what, fields) => {
    const { worstInputTokens, bytes } = estimate(fields)
    expect(worstInputTokens).toBe(windows(bytes + 2_000, 10))
    expect(worstInputTokens).toBeLessThan(CONTEXT * 11)
  })

  test.each<readonly [what: string, fields: object, readings: number]>([
    ['a tool that reads what others wrote', { tools: [{ type: 'mcp' }] }, 10],
    ['a tool nobody knows', { tools: [{ type: 'web_search' }, { type: 'brand_new' }] }, 10],
    ['a bound of the client’s', { tools: [{ type: 'web_fetch', max_uses: 3 }] }, 3],
  ])('is the model’s context for each use of %s', (_what, fields, readings) => {
    const { worstInputTokens, bytes } = estimate(fields, { protocol: 'messages' })
    expect(worstInputTokens).toBe(bytes + 2_000 + readings * CONTEXT)
  })

  test('is no less for a bound of the client’s that conversion does not pass on', () => {
    const fields = { tools: [{ type: 'web_fetch', max_uses: 3 }] }
    const { worstInputTokens, bytes } = estimate(fields, {
      protocol: 'messages',
      chain: { protocol: 'chat' },
    })
    expect(worstInputTokens).toBe(bytes + 2_000 + 10 * CONTEXT)
  })

  test('is the model’s context for each reading of a file beside such a tool', () => {
    const file = { messages: [{ content: [{ type: 'file', file: { file_id: 'f' } }] }] }
    expect(estimate({ ...file, web_search_options: {} }).worstInputTokens).toBe(11 * CONTEXT)
  })
})

test('what a call has to be able to pay stays what it will likely use', () => {
  const known = estimate({ max_tokens: 100, tools: [{ type: 'web_search' }] }, { broken: true })
  expect(known).toMatchObject({ outputTokens: 100, bound: 'strict' })
  expect(known.inputTokens).toBeLessThan(100)
})
