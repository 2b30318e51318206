import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { parseInTurns } from './in-turns.ts'

const document = (items: number): Buffer =>
  Buffer.from(JSON.stringify({ items: Array.from({ length: items }, (_, at) => `é ${at}\n`) }))

test.each([10, 200_000])('a document of %i items is read as it is written', async (items) => {
  const bytes = document(items)
  expect(await parseInTurns(bytes)).toEqual(JSON.parse(bytes.toString()))
})

test('a large one lets other work run after every piece of it', async () => {
  const bytes = document(200_000)
  let turns = 0
  let reading = true
  const others = (async () => {
    for (; reading; turns += 1) await nextTurn()
  })()
  await parseInTurns(bytes)
  reading = false
  await others
  expect(turns).toBeGreaterThanOrEqual(Math.floor(bytes.length / 262_144))
})

test.each(['{"a":', `["${'x'.repeat(300_000)}"`, ''])('what is no JSON is none', async (text) => {
  expect(await parseInTurns(Buffer.from(text))).toBeUndefined()
})
