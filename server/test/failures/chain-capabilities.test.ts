/** What the operator says of a chain's model counts where the vendor's kind and the forward name say nothing. */
import { beforeAll, describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { says } from '../matrix/upstreams.ts'
import type { ChainCapabilities, ProtocolId } from '../../src/core/catalogue.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
})

beforeAll(async () => {
  for (const [vendor, kind] of [
    ['compatible', 'openai-compatible'],
    ['claude', 'anthropic'],
    ['goo', 'google'],
  ] as const)
    await gateway.catalogue(...putVendor(vendor, upstream.url, { kind }))
})

interface Sent extends Answer {
  /** What reached the upstream; undefined: nothing did. */
  readonly sent: Readonly<Record<string, unknown>> | undefined
  readonly dropped: string
}

interface Chain {
  readonly vendor: string
  readonly protocol: ProtocolId
  readonly forward: string
}

const COMPATIBLE: Chain = { vendor: 'compatible', protocol: 'chat', forward: 'gpt-5' }
let models = 0

async function ask(body: object, capabilities: ChainCapabilities, chain = COMPATIBLE): Promise<Sent> {
  models += 1
  const model = `model-${models}`
  await gateway.catalogue(putModel(model), putChain({ model, ...chain, capabilities }))
  upstream.requests.length = 0
  upstream.answer(says(chain.protocol, { text: 'ok' }))
  const answer = await postJson(
    `${gateway.baseUrl}/v1/${chain.protocol === 'chat' ? 'responses' : 'chat/completions'}`,
    { model, ...body },
    { authorization: `Bearer ${gateway.key}` },
  )
  const sent = upstream.requests[0]?.json() as Sent['sent']
  return { ...answer, sent, dropped: answer.headers.get('gw-dropped-fields') ?? '' }
}

const THINK = { input: 'x', reasoning: { effort: 'high' } }

describe('reasoning effort [4.2-13]', () => {
  test('goes to a chain of which it is said, whatever its model is called there', async () => {
    for (const forward of ['gpt-5', 'prod-deploy-5']) {
      const { sent, dropped } = await ask(THINK, { reasoning: 'effort' }, { ...COMPATIBLE, forward })
      expect([sent?.['reasoning_effort'], dropped]).toEqual(['high', ''])
    }
  })

  test('is dropped and named where nothing is known', async () => {
    const { sent, dropped } = await ask(THINK, {})
    expect(sent).not.toHaveProperty('reasoning_effort')
    expect(dropped).toContain('reasoning')
  })

  test('of a strength no such model need know becomes the nearest that all of them know', async () => {
    const { sent } = await ask({ ...THINK, reasoning: { effort: 'xhigh' } }, { reasoning: 'effort' })
    expect(sent?.['reasoning_effort']).toBe('high')
  })

  test('is dropped where the operator knows that the model does not reason', async () => {
    const chain = { vendor: 'claude', protocol: 'messages', forward: 'claude-opus-4-6' } as const
    const body = { messages: [{ role: 'user', content: 'x' }], reasoning_effort: 'high' }
    expect((await ask(body, {}, chain)).sent).toHaveProperty('thinking')
    const { sent, dropped } = await ask(body, { reasoning: 'none' }, chain)
    expect(sent).not.toHaveProperty('thinking')
    expect(dropped).toContain('reasoning_effort')
  })

  test.each([
    ['a toggle', 'toggle', { thinking: { type: 'enabled' } }],
    ['a budget', 'budget', { thinking: { type: 'enabled', budget_tokens: 16_384 } }],
  ] as const)('becomes %s', async (_what, reasoning, fields) => {
    expect((await ask(THINK, { reasoning })).sent).toMatchObject(fields)
  })

  test('becomes a level of Gemini', async () => {
    const chain = { vendor: 'goo', protocol: 'gemini', forward: 'tuned-1' } as const
    const body = { messages: [{ role: 'user', content: 'x' }], reasoning_effort: 'high' }
    const { sent } = await ask(body, { reasoning: 'level' }, chain)
    expect(sent).toMatchObject({ generationConfig: { thinkingConfig: { thinkingLevel: 'HIGH' } } })
  })
})

test('sampling none drops temperature and top_p and names them', async () => {
  const { sent, dropped } = await ask({ input: 'x', temperature: 0.5, top_p: 0.5 }, { sampling: 'none' })
  expect(sent).not.toHaveProperty('temperature')
  expect(sent).not.toHaveProperty('top_p')
  expect(dropped).toMatch(/temperature.*top_p/)
})

test('images none refuses a picture before anything is sent', async () => {
  const picture = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' }
  const { status, body, sent } = await ask(
    { input: [{ role: 'user', content: [picture] }] },
    { images: 'none' },
  )
  expect([status, body.code, sent]).toEqual([400, 40000, undefined])
  expect(body.message).toContain('takes no images')
})

test('max_stop 0: the gateway cuts the answer itself', async () => {
  const chain = { vendor: 'claude', protocol: 'messages', forward: 'claude-opus-4-6' } as const
  const body = { messages: [{ role: 'user', content: 'x' }], stop: ['k'] }
  const { sent, text } = await ask(body, { stopMax: 0 }, chain)
  expect(sent).not.toHaveProperty('stop_sequences')
  expect(JSON.parse(text)).toMatchObject({ choices: [{ message: { content: 'o' } }] })
})

describe('tools false', () => {
  const TOOLS = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }]

  test('offered tools are dropped and named', async () => {
    const { sent, dropped } = await ask({ input: 'x', tools: TOOLS, tool_choice: 'auto' }, { tools: false })
    expect(sent).not.toHaveProperty('tools')
    expect(sent).not.toHaveProperty('tool_choice')
    expect(dropped).toContain('tools')
  })

  test('a call that is demanded is refused', async () => {
    const body = { input: 'x', tools: TOOLS, tool_choice: 'required' }
    const { status, body: answer, sent } = await ask(body, { tools: false })
    expect([status, answer.code, sent]).toEqual([400, 40000, undefined])
    expect(answer.message).toContain('tool_choice')
  })
})
