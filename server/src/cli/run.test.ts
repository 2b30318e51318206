import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { TEST_TIME } from '../../test/management/open-store.ts'
import type { Environment } from '../config/environment.ts'
import { run } from './run.ts'

let directory: string
/** A data directory the file below was applied to, copied instead of made anew. */
let applied: string
beforeAll(async () => {
  applied = await mkdtemp(join(tmpdir(), 'sluice-cli-'))
  directory = applied
  await applyFile()
})
afterAll(async () => {
  await rm(applied, { recursive: true, force: true })
})
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-cli-'))
})
afterEach(async () => {
  await rm(directory, { recursive: true, force: true })
})

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

async function sluice(
  argv: readonly string[],
  change: { readonly environment?: Environment; readonly input?: string } = {},
): Promise<Ran> {
  let out = ''
  let err = ''
  const code = await run(argv, {
    environment: { SLUICE_DATA_DIR: 'data', ...change.environment },
    workingDirectory: directory,
    now: () => TEST_TIME,
    out: (text) => {
      out += text
    },
    err: (text) => {
      err += text
    },
    readInput: async () => change.input ?? '',
  })
  return { code, out, err }
}

const FILE = `
vendors: [{code: own, kind: openai-compatible, base_url: "http://127.0.0.1:1/v1"}]
models: [{model_id: m, pricing: {input_price: 1, output_price: 2}, chains: [{vendor: own, protocol: chat}]}]
groups: [{name: set, protocol: chat, models: [m]}]
accounts:
  - email: owner@example.com
    role: admin
    credits: 100
    keys: [{name: laptop, secret: sk-gateway-laptop-1234}, {name: made}]
`

async function beginApplied(): Promise<void> {
  await cp(join(applied, 'data'), join(directory, 'data'), { recursive: true })
}

const applyFile = (...flags: readonly string[]) => sluice(['apply', '-f', '-', ...flags], { input: FILE })

describe('apply', () => {
  test('makes what is stored what the file says, and shows new keys once', async () => {
    await writeFile(join(directory, 'gateway.yaml'), FILE)
    const first = await sluice(['apply', '-f', 'gateway.yaml'])
    expect(first).toMatchObject({ code: 0, err: '' })
    expect(first.out).toContain('create   chain       m / own main chat m\n')
    expect(first.out).toMatch(/owner@example\.com {2}made {2}sk-gateway-[A-Za-z0-9_-]{43}\n/)
    expect(await sluice(['apply', '-f', 'gateway.yaml'])).toEqual({
      code: 0,
      out: 'everything is as the file says\n',
      err: '',
    })
  })

  test('--dry-run says what would change and changes nothing', async () => {
    await beginApplied()
    const input = FILE.replace('input_price: 1', 'input_price: 1.5')
    for (const _time of [1, 2]) {
      const planned = await sluice(['apply', '-f', '-', '--dry-run'], { input })
      expect(planned.out.split('\n')).toMatchObject([
        'change   model       m',
        expect.stringMatching(/^ +pricing: .*"input_price":1,.* → .*"input_price":1\.5,/),
        '1 change would be made',
        '',
      ])
    }
  })

  test('--prune says what it switches off', async () => {
    await beginApplied()
    const pruned = await sluice(['apply', '-f', '-', '--prune'], { input: 'models: []\ngroups: []' })
    expect(pruned.out).toBe('disable  model       m\nremove   group       set\n2 changes made\n')
  })

  test('--json prints the same for programs', async () => {
    const { out } = await applyFile('--json')
    const told: unknown = JSON.parse(out)
    expect(told).toMatchObject({
      result: 'applied',
      warnings: [],
      new_keys: [{ account: 'owner@example.com', name: 'made', key: expect.stringMatching(/^sk-gateway-/) }],
    })
  })

  test('reports every error with file, line and path, exits with 3 and applies nothing', async () => {
    await writeFile(
      join(directory, 'bad.yaml'),
      `${FILE}  - email: b@example.com\n    kyes: []\n    role: boss\n`,
    )
    const bad = await sluice(['apply', '-f', 'bad.yaml'])
    expect(bad).toEqual({
      code: 3,
      out: '',
      err: [
        'sluice: bad.yaml:11:5 accounts[1].kyes: is an unknown field; did you mean keys?',
        'bad.yaml:12:11 accounts[1].role: must be one of admin, user',
        'bad.yaml has 2 mistakes; nothing was applied',
        '',
      ].join('\n'),
    })
    expect((await sluice(['accounts', 'list', '--json'])).out).toBe('[]\n')
    const asJson = await sluice(['apply', '-f', 'bad.yaml', '--json'])
    expect(JSON.parse(asJson.out)).toMatchObject({
      result: 'mistakes',
      mistakes: [{ line: 11, column: 5 }, { line: 12 }],
    })
  })

  test('warns of what is only doubtful', async () => {
    const doubtful = await sluice(['apply', '-f', '-'], {
      input: 'groups: [{name: g, protocol: chat, models: [later]}]',
    })
    expect(doubtful).toMatchObject({
      code: 0,
      err: 'warning: standard input:1:45 groups[0].models[0]: refers to an unknown model: later\n',
    })
  })

  test('says which file cannot be read', async () => {
    const none = await sluice(['apply', '-f', 'none.yaml'])
    expect(none.code).toBe(3)
    expect(none.err).toContain('none.yaml cannot be read')
  })
})

describe('export', () => {
  test('prints what apply takes, and changes nothing when it is applied', async () => {
    await beginApplied()
    const { out } = await sluice(['export'])
    expect(await sluice(['apply', '-f', '-'], { input: out })).toMatchObject({
      code: 0,
      out: 'everything is as the file says\n',
    })
  })

  test('writes a file only its owner can read', async () => {
    await beginApplied()
    expect(await sluice(['export', '--json', '-o', 'copy.json'])).toMatchObject({ code: 0, out: '' })
    const file = join(directory, 'copy.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ models: [{ model_id: 'm' }] })
  })
})

describe('keys', () => {
  beforeEach(async () => {
    await beginApplied()
  })

  test('create prints the key alone on standard output', async () => {
    const made = await sluice([
      'keys',
      'create',
      'owner@example.com',
      '--name=ci',
      '--group=set',
      '--model=m',
      '--ip',
      '10.0.0.0/8',
      '::1',
      '--expires=2030-01-31',
      '--policy={concurrency: 5}',
    ])
    expect(made.code).toBe(0)
    expect(made.out).toMatch(/^sk-gateway-[A-Za-z0-9_-]{43}\n$/)
    expect(made.err).not.toContain(made.out.trim())
    const listed: unknown = JSON.parse((await sluice(['keys', 'list', '--json'])).out)
    expect(listed).toContainEqual(
      expect.objectContaining({
        account: 'owner@example.com',
        name: 'ci',
        group: 'set',
        models: ['m'],
        ip_allow: ['10.0.0.0/8', '::1'],
        expires_at: '2030-01-31T00:00:00.000Z',
        policy: { concurrency: 5 },
        hint: made.out.slice(0, 17),
      }),
    )
  })

  test.each([
    [['--group', 'none'], 'group refers to an unknown group: none'],
    [
      ['--expires', 'soon'],
      '--expires:1:1: must be a date like 2027-01-31 or 2027-01-31T12:00:00Z, or Unix seconds or milliseconds',
    ],
    [
      ['--policy', '{concurency: 5}'],
      '--policy:1:2 concurency: is an unknown field; did you mean concurrency?',
    ],
  ])('create refuses %j', async (flags, message) => {
    expect(await sluice(['keys', 'create', 'owner@example.com', '--name', 'ci', ...flags])).toEqual({
      code: 3,
      out: '',
      err: `sluice: ${message}\n`,
    })
  })

  test('list shows the beginning of each key and no more', async () => {
    const { out } = await sluice(['keys', 'list', '--account', 'owner@example.com'])
    expect(out).toMatch(/^ID +ACCOUNT +NAME +KEY +STATUS +GROUP +EXPIRES\n/)
    expect(out).toMatch(/laptop +sk-gateway-laptop… +enabled +- +-\n/)
    expect(out).not.toContain('laptop-1234')
  })

  test.each([
    ['by its beginning', 'sk-gateway-laptop'],
    ['as lists print it', 'sk-gateway-laptop…'],
    ['whole', 'sk-gateway-laptop-1234'],
  ])('disable takes a key %s', async (_form, reference) => {
    expect(await sluice(['keys', 'disable', reference])).toMatchObject({
      code: 0,
      err: 'key laptop (sk-gateway-laptop…) is disabled\n',
    })
  })

  test('disable, enable and delete do as they say', async () => {
    await sluice(['keys', 'disable', 'sk-gateway-laptop'])
    expect((await sluice(['keys', 'list'])).out).toMatch(/laptop +sk-gateway-laptop… +disabled/)
    await sluice(['keys', 'enable', 'sk-gateway-laptop'])
    expect((await sluice(['keys', 'list'])).out).toMatch(/laptop +sk-gateway-laptop… +enabled/)
    await sluice(['keys', 'delete', 'sk-gateway-laptop'])
    expect((await sluice(['keys', 'list'])).out).not.toContain('laptop')
    expect(await sluice(['keys', 'enable', 'sk-gateway-laptop'])).toMatchObject({ code: 4 })
  })

  test('commands that switch something print the new state for programs', async () => {
    const { out, err } = await sluice(['keys', 'disable', 'sk-gateway-laptop', '--json'])
    expect(JSON.parse(out)).toMatchObject({ name: 'laptop', status: 'disabled' })
    expect(err).toBe('')
  })

  test('rotate prints the new key alone; the former one works only where an overlap is asked for', async () => {
    const rotated = await sluice(['keys', 'rotate', 'sk-gateway-laptop', '--overlap', '60'])
    expect(rotated).toMatchObject({ code: 0 })
    expect(rotated.out).toMatch(/^sk-gateway-[A-Za-z0-9_-]{43}\n$/)
    expect(rotated.err).toContain('the former secret works until ')
    expect(rotated.err).not.toContain(rotated.out.trim())
    expect(await sluice(['keys', 'disable', 'sk-gateway-laptop-1234'])).toMatchObject({ code: 0 })
    const again = await sluice(['keys', 'rotate', rotated.out.trim(), '--json'])
    expect(JSON.parse(again.out)).toMatchObject({ former_valid_until: null })
    for (const former of ['sk-gateway-laptop-1234', rotated.out.trim()]) {
      expect(await sluice(['keys', 'enable', former])).toMatchObject({ code: 4 })
    }
    expect(await sluice(['keys', 'rotate', 'sk-gateway-nobody'])).toMatchObject({ code: 4 })
    expect(await sluice(['keys', 'rotate', 'sk-gateway-nobody', '--overlap', 'soon'])).toMatchObject({
      code: 3,
    })
  })

  test('a beginning that several keys share is not guessed at', async () => {
    await sluice(['apply', '-f', '-'], {
      input: 'accounts: [{email: owner@example.com, keys: [{name: other, secret: sk-gateway-laptop-5678}]}]',
    })
    expect(await sluice(['keys', 'disable', 'sk-gateway-laptop'])).toMatchObject({
      code: 4,
      err: 'sluice: several keys begin with sk-gateway-laptop: name one by its id (sluice keys list)\n',
    })
  })
})

describe('accounts, grant, logs, verify', () => {
  beforeEach(async () => {
    await beginApplied()
  })

  test('accounts list and show print what accounts have', async () => {
    expect((await sluice(['accounts', 'list'])).out).toMatch(
      /owner@example\.com +person +admin +active +100 +0 +0 +0 CNY +-\n/,
    )
    expect((await sluice(['accounts', 'show', 'owner@example.com'])).out).toMatch(/\ncredits +100\n/)
    const { out } = await sluice(['accounts', 'show', 'owner@example.com', '--json'])
    expect(JSON.parse(out)).toMatchObject({ email: 'owner@example.com', credits: '100', keys: 2 })
  })

  test('an account has one fallback model: a second setting replaces the first [1-46] [D-fallback-01]', async () => {
    const set = (model: string) =>
      sluice(['apply', '-f', '-'], {
        input: `accounts: [{email: owner@example.com, fallback_model: ${model}}]`,
      })
    const shown = async () =>
      JSON.parse((await sluice(['accounts', 'show', 'owner@example.com', '--json'])).out)
    await sluice(['apply', '-f', '-'], {
      input: 'models: [{model_id: other, pricing: {input_price: 1, output_price: 1}}]',
    })
    await set('m')
    expect(await shown()).toMatchObject({ fallback_model: 'm' })
    await set('other')
    expect(await shown()).toMatchObject({ fallback_model: 'other' })
    expect((await set('[m, other]')).code).toBe(3)
  })

  test('grant gives Credits once under an id, and takes them back', async () => {
    expect((await sluice(['grant', 'owner@example.com', '12.5', '--id', 'one'])).out).toBe(
      'owner@example.com has 112.5 Credits\n',
    )
    expect(await sluice(['grant', 'owner@example.com', '12.5', '--id', 'one'])).toMatchObject({
      out: 'owner@example.com has 112.5 Credits\n',
      err: 'the grant one was booked before; nothing changed\n',
    })
    expect((await sluice(['grant', 'owner@example.com', '--', '-0.5'])).out).toBe(
      'owner@example.com has 112 Credits\n',
    )
  })

  test('the id of a grant is not taken for another account, amount or reason', async () => {
    await sluice(['apply', '-f', '-'], { input: 'accounts: [{email: other@example.com}]' })
    await sluice(['grant', 'owner@example.com', '12.5', '--id', 'one', '--reason', 'a gift'])
    const others = [
      ['grant', 'other@example.com', '12.5', '--id', 'one', '--reason', 'a gift'],
      ['grant', 'owner@example.com', '13', '--id', 'one', '--reason', 'a gift'],
      ['grant', 'owner@example.com', '12.5', '--id', 'one'],
    ]
    for (const argv of others) {
      const answer = await sluice(argv)
      expect(answer.err).toMatch(/this id was used for a grant to another account, of another amount/)
      expect(answer).toMatchObject({ code: 3, out: '' })
    }
    expect(await sluice(others[0]?.with(1, 'owner@example.com') ?? [])).toMatchObject({ code: 0 })
    expect((await sluice(['accounts', 'show', 'other@example.com'])).out).toMatch(/\ncredits +0\n/)
  })

  test.each(['1e30', '1000000000000', '1000000001'])(
    'grant refuses %s Credits as too many',
    async (amount) => {
      const answer = await sluice(['grant', 'owner@example.com', amount])
      expect(answer).toMatchObject({ code: 3, out: '' })
      expect(answer.err).toMatch(/Credits at most|at most 1000000000000 Credits/)
      expect((await sluice(['accounts', 'show', 'owner@example.com'])).out).toMatch(/\ncredits +100\n/)
    },
  )

  test('grant takes no more back than there is', async () => {
    expect(await sluice(['grant', 'owner@example.com', '--', '-100.5'])).toEqual({
      code: 3,
      out: '',
      err: 'sluice: owner@example.com lacks 0.5 Credits for that\n',
    })
    expect((await sluice(['accounts', 'show', 'owner@example.com'])).out).toMatch(/\ncredits +100\n/)
  })

  test.each(['much', '0', '0.0000001'])('grant refuses %s Credits', async (amount) => {
    expect((await sluice(['grant', 'owner@example.com', amount])).code).toBe(3)
    expect((await sluice(['accounts', 'show', 'owner@example.com'])).out).toMatch(/\ncredits +100\n/)
  })

  test('logs of an account without calls are empty, and an invalid filter is reported', async () => {
    expect((await sluice(['logs'])).out).toMatch(/^TIME .*REQUEST +WHY\n$/)
    expect((await sluice(['logs', '--json'])).out).toBe('')
    expect(await sluice(['logs', '--limit', '0'])).toMatchObject({
      code: 3,
      err: 'sluice: --limit must be a whole number from 1 to 1000\n',
    })
    expect(await sluice(['logs', '--cursor', 'x'])).toMatchObject({ code: 3 })
  })

  test('verify says that all is well', async () => {
    expect(await sluice(['verify'])).toMatchObject({ code: 0 })
    expect(JSON.parse((await sluice(['verify', '--json'])).out)).toEqual({ differences: [], audit: 'whole' })
  })
})

test('verify prints what the ledger does not explain, and ends with 5', async () => {
  await beginApplied()
  const database = new DatabaseSync(join(directory, 'data', 'sluice.db'))
  database.exec('update accounts set credits = credits + 1')
  database.close()
  const found = await sluice(['verify'])
  expect(found.code).toBe(5)
  expect(found.out).toMatch(/^SUBJECT +WHAT +EXPECTED +FOUND\n.*acc_.* +100000000 +100000001\n/)
  expect(found.err).toBe('sluice: the ledger disagrees in 1 place\n')
  expect(JSON.parse((await sluice(['verify', '--json'])).out)).toMatchObject({
    differences: [{ found: '100000001' }],
  })
})

describe('migrate', () => {
  test('says what was done, and the second time that nothing was', async () => {
    const first: unknown = JSON.parse((await sluice(['migrate', '--json'])).out)
    expect(first).toMatchObject({ applied: expect.arrayContaining([{ version: 1, name: 'first schema' }]) })
    expect((await sluice(['migrate'])).out).toBe('the database is current: nothing to do\n')
  })
})

test('the command itself runs from anywhere: it finds its own build', async () => {
  const bin = fileURLToPath(new URL('../../bin/sluice.mjs', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [bin, '--version'], { cwd: directory })
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})

describe('what goes wrong says what to change', () => {
  test.each([
    ['an unknown command', ['aply'], 2, "unknown command 'aply'"],
    ['a missing option', ['apply'], 2, "required option '-f, --file <path>' not specified"],
    ['a missing argument', ['grant', 'somebody'], 2, "missing required argument 'credits'"],
  ])('%s', async (_what, argv, code, message) => {
    const wrong = await sluice(argv)
    expect(wrong.code).toBe(code)
    expect(wrong.err).toContain(message)
  })

  test.each([['verify'], ['export'], ['keys', 'list'], ['accounts', 'list'], ['logs']])(
    'a database that is not there is not made by looking: %s',
    async (...argv) => {
      const looked = await sluice(argv)
      expect(looked.code).toBe(4)
      expect(looked.err).toBe(
        `sluice: there is no database at ${join(directory, 'data', 'sluice.db')}: start Sluice once, or set SLUICE_DATA_DIR or SLUICE_DATABASE_URL to where it keeps its data\n`,
      )
      await expect(stat(join(directory, 'data'))).rejects.toThrow()
    },
  )

  test('an account that is not there', async () => {
    await beginApplied()
    expect(await sluice(['accounts', 'show', 'nobody@example.com'])).toEqual({
      code: 4,
      out: '',
      err: 'sluice: there is no account nobody@example.com: sluice accounts list shows them all\n',
    })
  })

  test('a mistake in the environment names the variable', async () => {
    const wrong = await sluice(['verify'], { environment: { SLUICE_DATABASE_URL: 'mysql://x' } })
    expect(wrong).toMatchObject({ code: 3 })
    expect(wrong.err).toContain('SLUICE_DATABASE_URL must be an address that begins with postgres://')
  })

  test('a database that does not answer', async () => {
    const wrong = await sluice(['verify'], {
      environment: { SLUICE_DATABASE_URL: 'postgres://127.0.0.1:1/none' },
    })
    expect(wrong.code).toBe(1)
    expect(wrong.err).toMatch(/SLUICE_DATABASE_URL cannot be used .*ECONNREFUSED.*nothing listens there/)
  })

  test('help and version are no mistakes', async () => {
    expect(await sluice(['--help'])).toMatchObject({ code: 0, err: '' })
    expect((await sluice(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})
