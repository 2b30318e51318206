import { expect, test } from 'vitest'
import { mergeMetrics } from './merge-metrics.ts'

const page = (calls: number) => `# HELP calls_total Calls.
# TYPE calls_total counter
calls_total{model="a b",code="200"} ${calls}
calls_total{model="say \\"hi\\", {you}",code="200"} 2
# HELP lag_seconds Lag.
# TYPE lag_seconds gauge
lag_seconds 0.5
`

test('each family is named once, and every sample says whose it is', () => {
  expect(
    mergeMetrics([
      { worker: '1', text: page(3) },
      { worker: '2', text: page(4) },
    ]),
  ).toBe(`# HELP calls_total Calls.
# TYPE calls_total counter
calls_total{worker="1",model="a b",code="200"} 3
calls_total{worker="1",model="say \\"hi\\", {you}",code="200"} 2
calls_total{worker="2",model="a b",code="200"} 4
calls_total{worker="2",model="say \\"hi\\", {you}",code="200"} 2
# HELP lag_seconds Lag.
# TYPE lag_seconds gauge
lag_seconds{worker="1"} 0.5
lag_seconds{worker="2"} 0.5
`)
})

test('a family only one process has is kept', () => {
  const text = mergeMetrics([
    { worker: '1', text: '' },
    { worker: '2', text: '# TYPE only gauge\nonly 1\n' },
  ])
  expect(text).toBe('# TYPE only gauge\nonly{worker="2"} 1\n')
})
