import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TEST_TIME } from '../../../../test/management/open-store.ts'
import { run } from '../../run.ts'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-cli-'))
  expect(await sluice('migrate')).toMatchObject({ code: 0 })
})
afterAll(() => rm(directory, { recursive: true, force: true }))

async function sluice(...argv: readonly string[]) {
  const said = { out: '', err: '' }
  const code = await run(argv, {
    environment: { SLUICE_DATA_DIR: 'data' },
    workingDirectory: directory,
    now: () => TEST_TIME,
    out: (text) => {
      said.out += text
    },
    err: (text) => {
      said.err += text
    },
    readInput: async () => '',
  })
  return { code, ...said }
}

const CODE = /^([0-9A-Z]{5}-){3}[0-9A-Z]{5}$/

test('codes are made, listed and made void', async () => {
  const made = await sluice('codes', 'create', '--credits', '5', '--count', '3', '--note', 'fair')
  expect(made.code).toBe(0)
  const codes = made.out.trim().split('\n')
  expect(codes).toHaveLength(3)
  for (const code of codes) expect(code).toMatch(CODE)
  const [batch = ''] = /bat_\S+?(?=;)/.exec(made.err) ?? []

  expect(await sluice('codes', 'void', codes[0] ?? '')).toMatchObject({ code: 0 })
  expect((await sluice('codes', 'list')).out).toMatch(
    new RegExp(`${batch} +5 Credits +3 +0 +1 +2 +- +fair\n`),
  )
  expect(await sluice('codes', 'void', batch)).toMatchObject({
    code: 0,
    err: `2 codes of ${batch} voided\n`,
  })
  const listed = await sluice('codes', 'list', '--json')
  expect(JSON.parse(listed.out)).toMatchObject([
    { id: batch, credits: '5', yuan: null, count: 3, redeemed: 0, voided: 3, created_by: 'command line' },
  ])
  expect(listed.out).not.toContain(codes[1])
})

test('codes come as CSV and as JSON', async () => {
  const csv = await sluice('codes', 'create', '--yuan', '2', '--csv', '--expires', '2100-01-31')
  expect(csv.out).toMatch(/^code,credits,yuan,expires_at\r\n[0-9A-Z-]{23},,2,2100-01-31T00:00:00\.000Z\r\n$/)
  const json = await sluice('codes', 'create', '--yuan', '2', '--json')
  const { codes }: { codes: readonly string[] } = JSON.parse(json.out)
  expect(codes[0]).toMatch(CODE)
})

test.each([
  ['no worth', ['create'], 3],
  ['two worths', ['create', '--credits', '1', '--yuan', '1'], 3],
  ['a worth of nothing', ['create', '--credits', '0'], 3],
  ['too many', ['create', '--credits', '1', '--count', '10001'], 3],
  ['a past date', ['create', '--credits', '1', '--expires', '2001-01-01'], 3],
  ['a code nobody made', ['void', 'AAAAA-AAAAA-AAAAA-AAAAA'], 4],
])('%s is refused with a sentence', async (_, argv, code) => {
  const said = await sluice('codes', ...argv)
  expect(said).toMatchObject({ code, out: '' })
  expect(said.err).not.toBe('')
})
