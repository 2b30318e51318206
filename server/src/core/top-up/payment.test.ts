import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { microCredits } from '../money.ts'
import { toMinorUnits } from './minor-units.ts'
import {
  creditOf,
  mergeReversal,
  NO_FACTS,
  paymentState,
  type PaymentFacts,
  type Reversal,
  takeBack,
} from './payment.ts'

const PRICE = { priceMinor: 100, currency: 'cny' }
const WORTH = microCredits(1_000n)

const inAll = (amountMinor: number): Reversal => ({ kind: 'refunded-in-all', amountMinor, currency: 'cny' })
const refund = (id: string, state: 'made' | 'failed', amountMinor: number, at = 1): Reversal => ({
  kind: 'refund',
  id,
  state,
  amountMinor,
  currency: 'cny',
  at,
})
const dispute = (state: 'inquiry' | 'open' | 'won' | 'lost', at = 1, amountMinor = 100): Reversal => ({
  kind: 'dispute',
  id: 'd',
  state,
  amountMinor,
  currency: 'cny',
  at,
})
const factsOf = (reversals: readonly Reversal[]): PaymentFacts => reversals.reduce(mergeReversal, NO_FACTS)

test.each<[sentence: string, reversals: readonly Reversal[], credit: bigint, state: string]>([
  ['nothing went back', [], 1_000n, 'paid'],
  ['a part was refunded', [inAll(30)], 700n, 'partly-refunded'],
  ['the sum of refunds grows', [inAll(30), inAll(100)], 0n, 'refunded'],
  ['a sum told late is none to go by', [inAll(100), inAll(30)], 0n, 'refunded'],
  [
    'refunds are told one by one',
    [refund('a', 'made', 30), refund('b', 'made', 20)],
    500n,
    'partly-refunded',
  ],
  ['one refund is told twice', [refund('a', 'made', 30), refund('a', 'made', 30)], 700n, 'partly-refunded'],
  ['refunds are told one by one and as a sum', [refund('a', 'made', 30), inAll(30)], 700n, 'partly-refunded'],
  [
    'a refund fails afterwards',
    [inAll(30), refund('a', 'made', 30), refund('a', 'failed', 30, 2)],
    1_000n,
    'paid',
  ],
  [
    'a failure is told before the refund',
    [refund('a', 'failed', 30, 2), refund('a', 'made', 30)],
    1_000n,
    'paid',
  ],
  ['more went back than was paid', [inAll(300)], 0n, 'refunded'],
  ['the bank asks', [dispute('inquiry')], 1_000n, 'paid'],
  ['a dispute is open', [dispute('open')], 0n, 'disputed'],
  ['a part is disputed', [dispute('open', 1, 40)], 600n, 'disputed'],
  ['a dispute is won', [dispute('open'), dispute('won', 2)], 1_000n, 'paid'],
  ['it is told to be won before it is told to be open', [dispute('won', 2), dispute('open')], 1_000n, 'paid'],
  ['a dispute is lost', [dispute('open'), dispute('lost', 2)], 0n, 'charged-back'],
  [
    'a lost one is appealed and won',
    [dispute('lost', 2), dispute('open', 3), dispute('won', 4)],
    1_000n,
    'paid',
  ],
  ['what was refunded is disputed too', [inAll(50), dispute('open')], 0n, 'disputed'],
  [
    'another currency went back',
    [{ kind: 'refunded-in-all', amountMinor: 1, currency: 'usd' }],
    0n,
    'refunded',
  ],
])('%s', (_, reversals, credit, state) => {
  const facts = factsOf(reversals)
  expect([creditOf(facts, PRICE, WORTH), paymentState(facts, PRICE)]).toEqual([credit, state])
})

test('in any order and with any repetition of notices, the result is the same', () => {
  const told: readonly Reversal[] = [
    inAll(10),
    inAll(30),
    refund('a', 'made', 10, 1),
    refund('b', 'made', 20, 2),
    refund('a', 'failed', 10, 3),
    dispute('open', 1, 40),
    dispute('lost', 2, 40),
    dispute('open', 3, 40),
    dispute('won', 3, 40),
  ]
  const shuffled = fc
    .tuple(fc.shuffledSubarray([...told], { minLength: told.length }), fc.subarray([...told]))
    .map(([all, again]) => [...all, ...again])
  fc.assert(
    fc.property(shuffled, (reversals) => {
      expect(factsOf(reversals)).toEqual(factsOf(told))
    }),
  )
})

describe('what is taken back', () => {
  const taken = (credits: bigint, balance: bigint, amount: bigint) =>
    takeBack(
      { credits: microCredits(credits), balance: microCredits(balance) },
      'balance',
      microCredits(amount),
    )

  test.each<[string, readonly [bigint, bigint, bigint], object[]]>([
    ['comes from the pool it went into', [5n, 10n, 10n], [{ pool: 'balance', amount: 10n }]],
    [
      'and from the other where it was exchanged',
      [8n, 4n, 10n],
      [
        { pool: 'balance', amount: 4n },
        { pool: 'credits', amount: 6n },
      ],
    ],
    [
      'and what neither has is a debt of the first',
      [3n, 4n, 10n],
      [
        { pool: 'balance', amount: 7n },
        { pool: 'credits', amount: 3n },
      ],
    ],
    ['a pool that owes already owes more', [0n, -5n, 10n], [{ pool: 'balance', amount: 10n }]],
    ['Credits that owe give nothing', [-5n, 0n, 10n], [{ pool: 'balance', amount: 10n }]],
    ['nothing is nothing', [1n, 1n, 0n], []],
  ])('%s', (_, [credits, balance, amount], parts) => {
    expect(taken(credits, balance, amount)).toEqual(parts)
  })

  test('always adds up', () => {
    const money = fc.bigInt({ min: -1_000n, max: 1_000n })
    fc.assert(
      fc.property(money, money, fc.bigInt({ min: 0n, max: 1_000n }), (credits, balance, amount) => {
        expect(taken(credits, balance, amount).reduce((sum, part) => sum + part.amount, 0n)).toBe(amount)
      }),
    )
  })
})

test.each([
  ['12.5', 'cny', 1_250],
  ['0.01', 'usd', 1],
  ['0.001', 'usd', undefined],
  ['500', 'jpy', 500],
  ['500.5', 'jpy', undefined],
  ['1.25', 'kwd', 1_250],
  ['x', 'cny', undefined],
])('%s %s is %j of the smallest unit', (amount, currency, minor) => {
  expect(toMinorUnits(amount, currency)).toBe(minor)
})
