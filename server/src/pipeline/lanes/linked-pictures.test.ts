import { expect, test } from 'vitest'
import type { Bytes } from './lane.ts'
import { withPictures } from './linked-pictures.ts'

const BYTES = new Map([
  ['https://p/1', 'AAAA'],
  ['https://p/2', 'BBBB'],
])

async function told(answer: readonly Bytes[]) {
  const asked: string[] = []
  const output = await withPictures(answer, (urls) => {
    asked.push(...urls)
    return Promise.resolve(BYTES)
  })
  return { text: Buffer.concat(output.map((piece) => Buffer.from(piece))).toString(), asked }
}

test.each<[string, unknown, unknown]>([
  ['one picture', { data: [{ url: 'https://p/1' }] }, { data: [{ b64_json: 'AAAA' }] }],
  [
    'several, with what is told of them and of the answer',
    { data: [{ url: 'https://p/1', x: [1] }, { url: 'https://p/2' }], usage: { output_tokens: 7 } },
    { usage: { output_tokens: 7 }, data: [{ x: [1], b64_json: 'AAAA' }, { b64_json: 'BBBB' }] },
  ],
  [
    'one that cannot be had keeps its address',
    { data: [{ url: 'https://p/1' }, { url: 'https://p/3' }] },
    { data: [{ b64_json: 'AAAA' }, { url: 'https://p/3' }] },
  ],
  [
    'one that failed',
    { data: [{ error: { code: 'x' } }, { url: 'https://p/2' }] },
    { data: [{ error: { code: 'x' } }, { b64_json: 'BBBB' }] },
  ],
])('%s', async (_what, answer, expected) => {
  const { text } = await told([JSON.stringify(answer)])
  expect(JSON.parse(text)).toEqual(expected)
})

test.each(['{"data":[{"b64_json":"CCCC"}]}', '{"data":[]}', '{"error":{}}', '[]', 'no JSON', ''])(
  '%j has no address, and passes as it is',
  async (answer) => {
    expect(await told([answer])).toEqual({ text: answer, asked: [] })
  },
)

test('an answer in pieces is one', async () => {
  const { text, asked } = await told(['{"data":[{"url":', Buffer.from('"https://p/1"}]}')])
  expect([JSON.parse(text), asked]).toEqual([{ data: [{ b64_json: 'AAAA' }] }, ['https://p/1']])
})
