import { describe, expect, test } from 'vitest'
import { chainId, credentialId } from '../ids.ts'
import { NO_USAGE } from '../canonical/usage.ts'
import { UNLIMITED } from '../limits/policy.ts'
import {
  ACCOUNT,
  exampleAbandon,
  exampleKey,
  exampleReserve,
  exampleSettle,
  exampleStore,
  KEY,
  MODEL,
} from './examples.ts'
import type { HotOperation, ProgressOperation } from '../ledger/operations.ts'

const progress = (left: true | undefined): ProgressOperation => ({
  kind: 'progress',
  callId: exampleReserve('a').callId,
  at: 1_000,
  chainId: chainId(1),
  modelId: MODEL,
  byok: false,
  usage: { ...NO_USAGE, input: 10, output: 5 },
  usageSource: 'estimated',
  images: 0,
  left,
})

const claim: HotOperation = {
  kind: 'claim',
  callId: exampleReserve('a').callId,
  at: 1_000,
  credentialId: credentialId('one'),
  policy: { ...UNLIMITED, concurrency: 1 },
  counts: { requests: 1, images: 0, videos: 0, videoSeconds: 0 },
}

function begun() {
  const store = exampleStore({ key: exampleKey({ policy: { ...UNLIMITED, concurrency: 1 } }) })
  store.run(exampleReserve('a'), claim)
  const slots = () =>
    [`key:${KEY}`, `account:${ACCOUNT}`, 'credential:one'].map(
      (subject) => store.rows().limitStates.get(subject as `key:${string}`)?.slots ?? 0,
    )
  return { store, slots }
}

describe('a client that has left', () => {
  test('frees the slots of its key and its account, and keeps the place on the vendor’s credential and the hold', () => {
    const { store, slots } = begun()
    expect(slots()).toEqual([1, 1, 1])
    const held = store.rows().accounts.get(ACCOUNT)?.held
    store.run(progress(true))
    expect(slots()).toEqual([0, 0, 1])
    expect(store.rows().accounts.get(ACCOUNT)?.held).toBe(held)
  })

  test('frees them once, however often it is said', () => {
    const { store, slots } = begun()
    store.run(progress(true), exampleReserve('b'))
    store.run(progress(true), progress(true))
    expect(slots()).toEqual([1, 1, 1])
  })

  test.each([
    ['settled', exampleSettle('a', { usage: { input: 10, output: 5 } })],
    ['abandoned', exampleAbandon('a')],
  ] as const)('takes no other call’s slot when its own is %s', (_how, end) => {
    const { store, slots } = begun()
    store.run(progress(true), exampleReserve('b'))
    expect(slots()).toEqual([1, 1, 1])
    store.run(end)
    expect(slots()).toEqual([1, 1, 0])
  })

  test('a client that is still there keeps its slot', () => {
    const { store, slots } = begun()
    store.run(progress(undefined))
    expect(slots()).toEqual([1, 1, 1])
  })
})
