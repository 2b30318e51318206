/** The contract page tells the truth about which rows a test shows, and coverage never falls unseen. */
import { describe, expect, test } from 'vitest'
import { memoryTree } from '../project/tree.mjs'
import { contractFindings, contractPage, importChecklist, lowered, PAGE, readContract } from './contract.mjs'

const CHECKLIST = `# Checklist

## 1 What the service does

| id | obligation | seen from outside as | area |
|---|---|---|---|
| 1-01 | Two addresses exist. | Each answers | ops |
| 1-02 | A request is forwarded. | 200 | routing |
| 1-03 | Clients read unbuffered. | Cannot be tested: advice to clients | ops |

## D-names: Names

| id | obligation | seen from outside as | area |
|---|---|---|---|
| D-names-01 | Money is an integer. | Sums are exact | money |
`
const treeWith = (testText) => memoryTree({ 'server/src/http/a.test.ts': testText })
const contractWith = (testText) => importChecklist(treeWith(testText), CHECKLIST)

describe('the contract', () => {
  test('counts a row as shown when the name of a test carries its id', () => {
    const { areas } = contractWith("test('a request is forwarded [1-02] [D-names-01]', () => {})")
    expect(Object.fromEntries(areas)).toEqual({
      money: { rows: 1, shown: 1, open: 0, untestable: 0 },
      ops: { rows: 2, shown: 0, open: 1, untestable: 1 },
      routing: { rows: 1, shown: 1, open: 0, untestable: 0 },
    })
  })

  test.each([
    ['an id in a comment', '// [1-02] later'],
    ['an id of a skipped test', "test.skip('a request is forwarded [1-02]', () => {})"],
    ['a range of indexes', 'const last = rows[1-02]'],
  ])('does not count %s', (_what, text) => {
    expect(contractWith(text).areas.get('routing').open).toBe(1)
  })

  test('survives being written and read again', () => {
    const tree = treeWith("test('a request is forwarded [1-02]', () => {})")
    const page = contractPage(importChecklist(tree, CHECKLIST))
    const again = readContract(
      memoryTree({ [PAGE]: page, 'server/src/http/a.test.ts': tree.read('server/src/http/a.test.ts') }),
    )
    expect(contractPage(again)).toBe(page)
    expect(page).toContain(
      '| 1-02 | A request is forwarded. | 200 | routing | [http/a](../../server/src/http/a.test.ts) |',
    )
  })

  test('keeps tables that only the page has when a checklist is read again', () => {
    const own = `## D-speech: Speech

| id | obligation | seen from outside as | area | tests |
|---|---|---|---|---|
| D-speech-01 | Characters are counted. | characters of the row | speech |  |
`
    const tree = memoryTree({
      [PAGE]: own,
      'server/src/http/a.test.ts': "test('counts [D-speech-01]', () => {})",
    })
    const { rows, areas } = importChecklist(tree, CHECKLIST)
    expect(rows.map(({ id }) => id)).toEqual(['1-01', '1-02', '1-03', 'D-names-01', 'D-speech-01'])
    expect(areas.get('speech')).toEqual({ rows: 1, shown: 1, open: 0, untestable: 0 })
  })

  test('complains when an area has more open rows than before', () => {
    const contract = contractWith('')
    expect(contractFindings(contract, { money: 1, ops: 1, routing: 1 }, undefined)).toEqual([])
    expect(contractFindings(contract, { money: 0, ops: 1, routing: 1 }, undefined)).toHaveLength(1)
  })

  test('lowers the record and never raises it', () => {
    const { areas } = contractWith("test('a request is forwarded [1-02]', () => {})")
    expect(lowered({ money: 0, ops: 5, routing: 1 }, areas)).toEqual({ money: 0, ops: 1, routing: 0 })
  })

  test('complains about an id that is no row', () => {
    expect(contractWith("test('nothing [9-99]', () => {})").mistakes).toEqual([
      expect.stringContaining('[9-99], which is no row'),
    ])
  })

  test('complains when a row says something else than the checklist', () => {
    const contract = contractWith('')
    const changed = CHECKLIST.replace('Two addresses exist.', 'Three addresses exist.')
    expect(contractFindings(contract, { money: 9, ops: 9, routing: 9 }, changed)).toEqual([
      expect.stringContaining('1 rows differ from the checklist'),
    ])
  })

  test('keeps the sentence of a row that was decided anew, and holds no checklist against it', () => {
    const page = '## D-money: Money\n\n| D-money-24 | What lies over it is owed. | owed | money |\n'
    const checklist = '## D-money: Money\n\n| D-money-24 | It is clipped. | capped | money |\n'
    const contract = importChecklist(memoryTree({ [PAGE]: page }), checklist)
    expect(contract.rows).toMatchObject([{ obligation: 'What lies over it is owed.' }])
    expect(contractFindings(contract, { money: 1 }, checklist)).toEqual([])
  })
})
