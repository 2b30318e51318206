/** The vendors of the demonstration: what they ask, and two of them that are in trouble. */
import { setTimeout } from 'node:timers/promises'
import {
  answerJson,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../server/test/gateway/scripted-upstream.ts'
import type { Person } from './api.ts'
import { CUSTOMER, gatewayFile } from './gateway.ts'

type Ask = Person['ask']

/** By the beginning of the model's id. Every one of them is played by the sandbox. */
const VENDORS = [
  { code: 'anthropic', name: 'Anthropic', begins: 'claude' },
  { code: 'openai', name: 'OpenAI', begins: 'gpt' },
  { code: 'google', name: 'Google', begins: 'gemini' },
  { code: 'deepseek', name: 'DeepSeek', begins: 'deepseek' },
  { code: 'zhipu', name: 'Zhipu', begins: 'glm' },
  { code: 'kling', name: 'Kling', begins: 'kling' },
] as const

const PEOPLE = [
  { email: 'mei@example.com', credits: 58_210, verification: 'personal' },
  { email: 'jonas@example.com', credits: 1_204, user_rate: 80 },
  { email: 'idle@example.com', credits: 0, status: 'suspended' },
] as const

/** @param refusers where those listen that are in trouble, without a slash at the end */
export function demoFile(refusers: string) {
  const file = gatewayFile()
  const vendorOf = (model: string): string =>
    VENDORS.find(({ begins }) => model.startsWith(begins))?.code ?? 'sandbox'
  return {
    ...file,
    vendors: [
      ...VENDORS.map(({ code, name }) => ({
        code,
        name,
        kind: 'sandbox',
        credentials: [{ name: 'main', secret: 'none' }],
      })),
      ...TROUBLES.map(({ code, name, credential }) => ({
        code,
        name,
        kind: 'openai-compatible',
        base_url: `${refusers}/${code}/v1`,
        credentials: [{ name: credential, secret: 'sk-of-the-demonstration' }],
      })),
    ],
    models: file.models.map((model) => ({
      ...model,
      chains: model.chains.map((chain) => ({
        ...chain,
        vendor: vendorOf(model.model_id),
        priority: 2,
        // Streams without their usage would be estimated.
        ...(chain.protocol === 'chat' ? { stream_usage: 'inject' } : {}),
      })),
    })),
    accounts: [
      ...file.accounts,
      ...PEOPLE.map((person) => ({ ...person, password: CUSTOMER.password, api_deduction: true })),
    ],
  }
}

interface DemoChain {
  readonly id: number
  readonly model_id: string
}

/** What each vendor asks, in parts of what the model costs here; above 1 it loses money. */
const ASKED: Readonly<Record<string, number>> = { 'kling-v3': 1.11, 'deepseek-v4': 0.55 }
const USUALLY_ASKED = 0.76

export async function tellCosts(ask: Ask): Promise<void> {
  const { models } = gatewayFile()
  for (const { id, model_id: model } of await ask<readonly DemoChain[]>('GET', 'admin/chains')) {
    const pricing = models.find((one) => one.model_id === model)?.pricing
    const part = ASKED[model] ?? USUALLY_ASKED
    const cost = Object.fromEntries(
      Object.entries(pricing ?? {}).map(([name, price]: readonly [string, unknown]) => [
        name,
        typeof price === 'number' ? Number((price * part).toFixed(3)) : price,
      ]),
    )
    await ask('PATCH', `admin/chains/${id}`, { cost })
  }
}

/** What is sold, what will cost more, and who is told of it. */
export async function stockShelves(ask: Ask): Promise<void> {
  const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()
  await ask('POST', 'admin/price-changes', {
    model_id: 'kling-v3',
    effective_at: inDays(8),
    pricing: { billing_modes: ['video_second'], video_price: 0.96 },
  })
  await ask('PUT', 'admin/top-up-packages/starter', { name: 'Starter', price: 20, credits: 20_000 })
  await ask('PUT', 'admin/top-up-packages/team', { name: 'Team', price: 500, credits: 550_000 })
  const codes = { credits: 5_000, count: 200, note: 'Spring conference', expires_at: inDays(90) }
  await ask('POST', 'admin/code-batches', codes, { 'idempotency-key': 'codes' })
}

const LIMITED = {
  error: {
    type: 'rate_limit_error',
    message: 'This request would exceed your organization’s rate limit of 2,000,000 input tokens per minute.',
  },
}
const EMPTY = {
  error: {
    type: 'insufficient_quota',
    code: 'insufficient_quota',
    message: 'You exceeded your current quota, please check your plan and billing details.',
  },
}
const TROUBLES = [
  {
    code: 'bedrock',
    name: 'Bedrock',
    credential: 'us-east-1',
    model: 'claude-opus-4.8',
    forward: 'anthropic.claude-opus-4-8-v1:0',
  },
  { code: 'azure', name: 'Azure', credential: 'sweden-central', model: 'gpt-5', forward: 'gpt-5-2025-08-07' },
] as const

/** Vendors think a while before they refuse. */
const REFUSAL_MS = 140

/** Who plays the vendors that refuse, each for a reason of its own. */
export async function openRefusers(): Promise<ScriptedUpstream> {
  const upstream = await openScriptedUpstream()
  upstream.answer(async (request, response) => {
    await setTimeout(REFUSAL_MS)
    await (request.path.startsWith('/bedrock')
      ? answerJson(LIMITED, 429, { 'retry-after': '540' })
      : answerJson(EMPTY, 429))(request, response)
  })
  return upstream
}

/** Their chains are asked before the others. */
export async function bringTrouble(ask: Ask): Promise<void> {
  for (const { code, credential, model, forward } of TROUBLES)
    await ask('POST', 'admin/chains', {
      model_id: model,
      vendor: code,
      credential,
      protocol: 'chat',
      forward_model_id: forward,
      priority: 1,
      stream_usage: 'inject',
    })
}
