import { expect, test } from 'vitest'
import { fileOf } from './export.ts'

const row = {
  at: '2026-11-22T00:00:00.000Z',
  model: '=HYPERLINK("x")',
  key_id: null,
  app_id: 'a, b',
  member: null,
  calls: 2,
  failed: 0,
  usage: { input: 1, cached_input: 2, cache_write: 3, cache_write_1h: 4, output: 5, reasoning: 6 },
  images: 0,
  video_seconds: 1.5,
  amount: '1.250000',
  deducted: '1.000000',
  subscription_covered: '0',
}

test('a spreadsheet gets every number, and no formula', async () => {
  const [head = '', line = ''] = (await fileOf([row], 'csv').text()).split('\r\n')
  expect(head).toBe(
    'at,model,key_id,app_id,member,calls,failed,input,cached_input,cache_write,cache_write_1h,output,reasoning,images,video_seconds,amount,deducted,subscription_covered',
  )
  expect(line).toBe(
    `2026-11-22T00:00:00.000Z,"'=HYPERLINK(""x"")",,"a, b",,2,0,1,2,3,4,5,6,0,1.5,1.250000,1.000000,0`,
  )
})

test.each(['=1', '+1+1', '-1+1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1', '＋1', '－1', '＠SUM(A1)'])(
  'text that a spreadsheet would take for a formula stays text: %j',
  async (model) => {
    const text = await fileOf([{ ...row, model }], 'csv').text()
    expect(text).toContain(`'${model}`)
  },
)

test('a program gets a row a line, as it was answered', async () => {
  const lines = (await fileOf([row, row], 'ndjson').text()).trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([row, row])
})
