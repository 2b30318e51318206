import { expect, test } from 'vitest'
import { exampleAbandon, exampleLog, exampleReserve, exampleSettle } from '../../../core/calls/examples.ts'
import type { HotOperation } from '../../../core/ledger/operations.ts'
import { decodeOperations, encodeOperations } from './hot-codec.ts'

const END = {
  id: 'video_1',
  patch: { status: 'completed', url: undefined, next: undefined, secondsProduced: 4.02, state: { a: null } },
} as const

const SETTLE = exampleSettle('call_1', { usage: { input: 1000 } })
/** As the request pipeline makes it: its row says the same, with the same values. */
const SAYING_TWICE = { ...SETTLE, log: { ...SETTLE.log, recipe: SETTLE.recipe, usage: SETTLE.used.usage } }

const OPERATIONS: readonly HotOperation[] = [
  exampleReserve('call_1'),
  SAYING_TWICE,
  exampleSettle('call_1', { usage: { input: 1000 } }),
  exampleSettle('call_1', { videoSeconds: 4 }, { task: END }),
  exampleAbandon('call_1'),
  exampleAbandon('call_1', { task: END }),
  { kind: 'log', log: exampleLog('call_1') },
]

test.each(OPERATIONS)('a $kind arrives at the thread as it was sent', (operation) => {
  expect(decodeOperations(encodeOperations([operation]))).toEqual([operation])
})

test('what a task clears is cleared at the other side, what it does not name stays as it was', () => {
  const [operation] = decodeOperations(encodeOperations([exampleAbandon('call_1', { task: END })]))
  expect(operation?.kind === 'abandon' && Object.keys(operation.task?.patch ?? {})).toEqual(
    Object.keys(END.patch),
  )
})

test('recipe and usage of a settlement travel once', () => {
  const text = encodeOperations([SAYING_TWICE])
  expect([text.split('"recipe"').length - 1, text.split('"usage"').length - 1]).toEqual([1, 1])
})

test('a call without a task sends nothing of one', () => {
  const texts = [exampleSettle('call_1'), exampleAbandon('call_1')].map((one) => encodeOperations([one]))
  expect(texts.filter((text) => text.includes('task'))).toEqual([])
})
