import { describe, expect, test } from 'vitest'
import {
  sampleCatalogue,
  sampleChain,
  sampleCredential,
  sampleModel,
  sampleVendor,
} from '../../../test/management/sample-catalogue.ts'
import type { Chain } from '../../core/catalogue.ts'
import { forwardModelId } from '../../core/ids.ts'
import { presetStreamUsage, unreportedUsage } from './unreported-usage.ts'

describe('a preset asks for usage where the vendor wants to be asked', () => {
  test.each([
    ['openai', 'chat', 'inject'],
    ['openai', 'responses', 'forward'],
    ['anthropic', 'messages', 'forward'],
    ['mistral', 'chat', 'forward'],
    ['dashscope', 'chat', 'inject'],
    ['kling', 'video', 'forward'],
    ['unknown', 'chat', 'forward'],
  ] as const)('%s %s: %s', (kind, protocol, usage) => {
    expect(presetStreamUsage(kind, protocol, 'm')).toBe(usage)
  })
})

describe('operators are warned of streams that end without their usage', () => {
  const warned = (kind: string, chain: Partial<Chain>) => {
    const chains = [sampleChain(1, 'm', 'acme', chain)]
    const vendors = [sampleVendor('acme', { kind })]
    return unreportedUsage(
      sampleCatalogue({
        vendors,
        models: [sampleModel('m', chains)],
        credentials: [sampleCredential('acme')],
      }),
    ).length
  }
  test.each<readonly [what: string, kind: string, chain: Partial<Chain>, warnings: number]>([
    [
      'a chain that forwards and whose model reasons',
      'openai',
      { forwardModelId: forwardModelId('gpt-5') },
      1,
    ],
    ['one that injects', 'openai', { forwardModelId: forwardModelId('gpt-5'), streamUsage: 'inject' }, 0],
    ['one whose model does not reason', 'openai', { capabilities: { reasoning: 'none' } }, 0],
    [
      'one whose model the operator says reasons',
      'openai-compatible',
      { capabilities: { reasoning: 'effort' } },
      1,
    ],
    ['one of a vendor that tells by itself', 'anthropic', { protocol: 'messages' }, 0],
    ['one that is off', 'openai', { forwardModelId: forwardModelId('gpt-5'), status: 'disabled' }, 0],
  ])('%s', (_what, kind, chain, warnings) => {
    expect(warned(kind, chain)).toBe(warnings)
  })
})
