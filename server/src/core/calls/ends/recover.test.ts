import { describe, expect, test } from 'vitest'
import { NO_USAGE } from '../../canonical/usage.ts'
import { credentialId, vendorCode } from '../../ids.ts'
import {
  NO_PRICES,
  CHAIN,
  credits,
  exampleDemand,
  exampleReserve,
  exampleStore,
  FALLBACK,
  MODEL,
  TERMS,
} from '../examples.ts'
import type { CallProgress, OpenCall } from '../../ledger/hot-rows.ts'
import { type CallDescription, decodeDescription, encodeDescription } from '../../ledger/call-description.ts'
import { decideRecovery } from './recover.ts'

const NOW = 1_000_000
const LATER = NOW + 700_000

const description: CallDescription = {
  requestId: 'request_1',
  createdAt: NOW - 5,
  endpoint: '/v1/responses',
  clientProtocol: 'responses',
  modelRequested: 'example-model',
  stream: true,
  user: 'someone',
  appId: 'editor',
  customId: undefined,
  secondsDeclared: undefined,
  chains: { '1': { vendorCode: vendorCode('openai'), upstreamProtocol: 'chat' } },
}

const progress: CallProgress = {
  chainId: CHAIN,
  credentialId: credentialId('one'),
  modelId: MODEL,
  byok: false,
  usage: { ...NO_USAGE, input: 1000, output: 500 },
  usageSource: 'estimated',
  images: 0,
}

/** An open call as a store would find it, with what its process last said. */
function openCall(known: CallProgress | undefined, changes: Partial<OpenCall> = {}): OpenCall {
  const store = exampleStore()
  const expensive = { ...TERMS, pricing: { ...TERMS.pricing, outputPrice: '20' } }
  const fallback = exampleDemand({ modelId: FALLBACK, terms: JSON.stringify(expensive) })
  store.run(exampleReserve('a', { fallback, description }))
  const [open] = store.rows().openCalls.values()
  if (open === undefined) throw new Error('the example call was not reserved')
  return { ...open, touchedAt: NOW + 3000, progress: known, ...changes }
}

describe('recovery of an open call', () => {
  test('settles at the last known usage', () => {
    const operation = decideRecovery(openCall(progress), LATER, 77)
    expect(operation).toMatchObject({
      kind: 'settle',
      at: LATER,
      monthStart: 77,
      modelId: MODEL,
      credentialId: 'one',
      amount: credits(6),
      used: { usage: { input: 1000, output: 500 } },
      log: {
        ending: 'recovered',
        requestId: 'request_1',
        createdAt: NOW - 5,
        endedAt: NOW + 3000,
        durationMs: 3005,
        endpoint: '/v1/responses',
        vendorCode: 'openai',
        upstreamProtocol: 'chat',
        usageSource: 'estimated',
        httpStatus: 200,
        user: 'someone',
        amount: credits(6),
      },
    })
  })

  test('prices the fallback model by its own terms', () => {
    expect(decideRecovery(openCall({ ...progress, modelId: FALLBACK }), LATER)).toMatchObject({
      amount: credits(11),
    })
  })

  test.each<[string, CallProgress | undefined]>([
    ['nothing was said', undefined],
    ['nothing was produced', { ...progress, usage: NO_USAGE }],
    ['only zeros were reported', { ...progress, usage: { ...NO_USAGE, input: 0, output: 0 } }],
  ])('gives everything back when %s', (_what, known) => {
    const operation = decideRecovery(openCall(known), LATER)
    expect(operation).toMatchObject({ kind: 'abandon', log: { ending: 'recovered', amount: 0n } })
  })

  test('a call that had not begun to answer shows an error, not a success', () => {
    expect(decideRecovery(openCall(undefined), LATER).log).toMatchObject({ httpStatus: 500, code: 50000 })
  })

  test('images alone are something produced', () => {
    const terms = JSON.stringify({
      ...TERMS,
      pricing: { ...NO_PRICES, billingModes: ['image'], imagePrice: '0.2' },
    })
    const known = { ...progress, usage: NO_USAGE, images: 2 }
    expect(decideRecovery(openCall(known, { terms }), LATER)).toMatchObject({
      amount: credits(400),
      used: { images: 2 },
    })
  })

  test('a call that is billed as several is so by who takes it over', () => {
    const terms = JSON.stringify({
      ...TERMS,
      pricing: { ...NO_PRICES, billingModes: ['request'], requestPrice: '0.015' },
    })
    const several = { ...description, requests: 3 }
    expect(decideRecovery(openCall(progress, { terms, description: several }), LATER)).toMatchObject({
      amount: credits(45),
    })
  })

  test.each([
    ['sound that is written down', { audioSeconds: 2.5 }, { audioSecondPrice: '1' }, 'audio_second', 2_500],
    ['a text that is spoken', { characters: 11 }, { characterPrice: '100000' }, 'character', 1_100],
  ] as const)(
    '%s is billed whole by who takes the call over [D-speech-16]',
    (_what, pieces, prices, mode, amount) => {
      const terms = JSON.stringify({
        ...TERMS,
        pricing: { ...NO_PRICES, billingModes: [mode], ...prices },
      })
      const known = { ...description, ...pieces }
      expect(decideRecovery(openCall(progress, { terms, description: known }), LATER)).toMatchObject({
        kind: 'settle',
        amount: credits(amount),
        used: pieces,
        log: pieces,
      })
      expect(decideRecovery(openCall(undefined, { terms, description: known }), LATER)).toMatchObject({
        kind: 'abandon',
      })
    },
  )

  test('a video the vendor has is billed by its declared seconds', () => {
    const terms = JSON.stringify({
      ...TERMS,
      pricing: { ...NO_PRICES, billingModes: ['video_second'], videoPrice: '0.5' },
    })
    const counts = { requests: 1, images: 0, videos: 1, videoSeconds: 8 }
    const known = { ...progress, usage: NO_USAGE, usageSource: 'declared' as const }
    expect(decideRecovery(openCall(known, { terms, counts }), LATER)).toMatchObject({
      kind: 'settle',
      amount: credits(4000),
      used: { videoSeconds: 8 },
    })
  })

  test('is an operation like any other: run twice it counts once', () => {
    const store = exampleStore()
    store.run(exampleReserve('a'))
    const [open] = store.rows().openCalls.values()
    if (open === undefined) throw new Error('the example call was not reserved')
    const operation = decideRecovery({ ...open, progress }, LATER)
    expect(store.run(operation, operation)).toMatchObject([{ first: true }, { first: false }])
    expect(store.account()).toMatchObject({ credits: credits(994), held: 0n })
  })

  test('a damaged row gives its hold back instead of blocking the recovery of all others', () => {
    expect(decideRecovery(openCall(progress, { terms: '{}' }), LATER)).toMatchObject({ kind: 'abandon' })
  })
})

describe('the description of a call', () => {
  const call = openCall(undefined)

  test('comes back as it went', () => {
    expect(decodeDescription(encodeDescription(description), call)).toEqual(description)
  })

  test.each(['', 'null', '[]', '{"createdAt":"soon","chains":{"1":7,"2":{}}}'])(
    'damaged as %s it still names the call',
    (text) => {
      expect(decodeDescription(text, call)).toMatchObject({ requestId: 'a', createdAt: NOW, stream: false })
    },
  )
})
