import { describe, expect, test } from 'vitest'
import type { Catalogue } from '../../core/catalogue.ts'
import { forwardModelId, modelId, vendorCode } from '../../core/ids.ts'
import type { TransportFailure } from '../../upstream/upstream.ts'
import { classifyAttempt } from './classify.ts'
import type { AttemptFailure } from '../exchange/exchange-outcome.ts'
import type { Leg } from './leg.ts'

const VENDOR = vendorCode('one')
const leg = {
  chain: {
    id: 1,
    modelId: modelId('m'),
    vendorCode: VENDOR,
    credentialId: 1,
    protocol: 'chat',
    forwardModelId: forwardModelId('m'),
  },
  model: { modelId: modelId('m') },
  byok: false,
  why: 'priority',
} as unknown as Leg

const catalogueOf = (kind: string) =>
  ({
    vendors: new Map([[VENDOR, { code: VENDOR, kind }]]),
    credentials: new Map([[1, { id: 1 }]]),
  }) as unknown as Catalogue

const broke = (kind: TransportFailure['kind'], sent: boolean): AttemptFailure => ({
  kind: 'transport',
  transport: { kind, sent, detail: 'test' },
})
const status = (code: number, body: object): AttemptFailure => ({
  kind: 'status',
  status: code,
  headers: {},
  body: Buffer.from(JSON.stringify(body)),
})

describe('what kind of failure an attempt was', () => {
  test.each<[string, AttemptFailure, string]>([
    ['no connection was made: nothing was sent', broke('connect', false), 'connect'],
    ['the connection broke before the request left', broke('reset', false), 'connect'],
    ['it broke after the request was sent: the vendor may bill an answer', broke('reset', true), 'cut'],
    ['no head in time', broke('first-byte-timeout', true), 'timeout'],
    ['the answer stalled', broke('idle-timeout', true), 'timeout'],
    ['what came was no HTTP', broke('protocol', true), 'cut'],
    ['the time of the whole call ran out', { kind: 'deadline' }, 'timeout'],
    ['a status', status(503, {}), 'overloaded'],
    ['a code inside a status', status(400, { error: { code: 'insufficient_quota' } }), 'quota'],
    ['an answer without its end', { kind: 'answer', answer: { kind: 'cut' } }, 'cut'],
    [
      'an error inside a 200',
      {
        kind: 'answer',
        answer: {
          kind: 'error',
          status: undefined,
          raw: { error: { code: 'rate_limit_exceeded' } },
          delivered: true,
        },
      },
      'rate-limited',
    ],
  ])('%s', (_what, failure, expected) => {
    expect(classifyAttempt(catalogueOf('openai'), leg, failure).kind).toBe(expected)
  })

  test('is read with the words of the vendor as the call’s own catalogue knows it', () => {
    expect(() => classifyAttempt(catalogueOf('kling'), leg, status(500, {}))).toThrow('does not speak chat')
    expect(classifyAttempt(catalogueOf('openai'), leg, status(500, {})).kind).toBe('overloaded')
  })
})
