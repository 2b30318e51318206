/** `sluice doctor`: what it finds, what it says to do, and that it changes nothing. */
import { chmod, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type CommandLine, openCommandLine, type RunOptions } from '../../../../test/cli/command-line.ts'
import { openGateway, putChain, putModel, putVendor } from '../../../../test/gateway/gateway.ts'
import {
  answerJson,
  openScriptedUpstream,
  type ScriptedUpstream,
} from '../../../../test/gateway/scripted-upstream.ts'
import { openMailbox } from '../../../../test/notify/mailbox.ts'
import { createMigratedDatabase } from '../../../../test/postgres/fresh-database.ts'
import type { DatabaseReport } from '../../../storage/inspect.ts'
import { loadSqlite } from '../../../storage/sqlite/library.ts'
import { askRunning } from '../../ask-running.ts'
import { judge } from '../../doctor/database.ts'
import { checkFree, checkNode, checkSecurityLog } from '../../../app/doctor/machine.ts'

let line: CommandLine
let upstream: ScriptedUpstream
beforeEach(async () => {
  line = await openCommandLine({
    SLUICE_HOST: '127.0.0.1',
    SLUICE_PORT: '0',
    SLUICE_GATEWAY_PORT: '0',
    SLUICE_OPS_PORT: '0',
  })
  upstream = await openScriptedUpstream()
  upstream.answer(answerJson({ choices: [], usage: {} }))
})
afterEach(async () => {
  await upstream.close()
  await line.remove()
})

interface Told {
  readonly check: string
  readonly state: string
  readonly found: string
  readonly fix: string | null
}

async function doctor(argv: readonly string[] = [], options: RunOptions = {}) {
  const ran = await line.sluice(['doctor', '--json', ...argv], { now: Date.now, ...options })
  const told: readonly Told[] = JSON.parse(ran.out)
  return { ...ran, told, of: (check: string) => told.find((one) => one.check === check) }
}

const file = () => `
vendors: [{code: own, kind: openai-compatible, base_url: "${upstream.url}/v1", credentials: [{name: main, secret: secret-of-own}, {name: spare, secret: x}]}]
models: [{model_id: m, pricing: {input_price: 1, output_price: 2}, chains: [{vendor: own, credential: main, protocol: chat}]}]
`

describe.each(['SQLite', 'PostgreSQL'])('on %s', (engine) => {
  let environment: Record<string, string> = {}
  let drop: (() => Promise<void>) | undefined
  beforeEach(async () => {
    const database = engine === 'SQLite' ? undefined : await createMigratedDatabase()
    drop = database?.drop
    environment = database === undefined ? {} : { SLUICE_DATABASE_URL: database.url }
    expect(await line.sluice(['apply', '-f', '-'], { input: file(), environment })).toMatchObject({ code: 0 })
  })
  afterEach(() => drop?.())

  test('all that is well is said to be, with one small real call for each credential', async () => {
    const mailbox = await openMailbox()
    const mail = { SLUICE_SMTP_URL: mailbox.url, SLUICE_MAIL_FROM: 'sluice@example.com' }
    const found = await doctor([], { environment: { ...environment, ...mail } })
    await mailbox.close()
    expect(found).toMatchObject({ code: 0, err: expect.stringContaining('no check failed') })
    const bad = found.told.filter(
      ({ state, check }) =>
        state === 'failed' ||
        (state === 'warning' && !['phone messages', 'disk', 'latency to the database'].includes(check)),
    )
    expect(bad).toEqual([])
    expect(found.of('database')).toMatchObject({ found: expect.stringMatching(engine) })
    expect(found.of('schema')).toMatchObject({ state: 'ok' })
    expect(found.of('clock')).toMatchObject({ state: 'ok' })
    expect(found.of('stored files')).toMatchObject({ state: 'ok' })
    expect(found.of('mail')).toMatchObject({ state: 'ok' })
    expect(found.of('credential own/main')).toMatchObject({
      state: 'ok',
      found: expect.stringContaining('answered'),
    })
    expect(found.of('credential own/spare')).toMatchObject({ state: 'skipped', found: 'no chain uses it' })
    expect(upstream.requests).toHaveLength(1)
  })

  test('a credential that the vendor refuses fails, and is never shown', async () => {
    upstream.answer(answerJson({ error: { message: 'Incorrect API key provided' } }, 401))
    const found = await doctor([], { environment })
    expect(found.code).toBe(1)
    expect(found.of('credential own/main')).toMatchObject({
      state: 'failed',
      found: expect.stringContaining('Incorrect API key'),
      fix: expect.stringContaining('replace its secret'),
    })
    expect(`${found.out}${found.err}`).not.toContain('secret-of-own')
    expect(await doctor(['--no-credentials'], { environment })).toMatchObject({ code: 0 })
    expect(upstream.requests).toHaveLength(1)
  })

  test('a secret key other than the one the database was created with is reported', async () => {
    const found = await doctor([], {
      environment: { ...environment, SLUICE_SECRET_KEY: 'another key of text' },
    })
    expect(found.code).toBe(1)
    expect(found.of('database')).toMatchObject({
      state: 'failed',
      found: expect.stringContaining('the secret key is not the one'),
    })
    expect(found.of('credentials')).toMatchObject({ state: 'skipped' })
  })
})

test('where nothing was started yet it says so and makes nothing', async () => {
  const found = await doctor()
  expect(found.code).toBe(1)
  expect(found.of('data directory')).toMatchObject({
    state: 'failed',
    fix: expect.stringContaining('start Sluice once'),
  })
  expect(await readdir(line.directory)).toEqual([])
})

test('all errors of the environment are reported', async () => {
  const found = await doctor([], { environment: { SLUICE_PORT: 'x', SLUICE_DATABASE_URL: 'mysql://x' } })
  expect(found.code).toBe(1)
  expect(
    found.told.filter(({ check, state }) => check === 'configuration' && state === 'failed'),
  ).toHaveLength(2)
})

test('a variable that means nothing, a bad mail server, an unknown SMS address and open permissions are reported', async () => {
  await line.sluice(['apply', '-f', '-'], { input: file() })
  await chmod(join(line.directory, 'data'), 0o755)
  await chmod(join(line.directory, 'data', 'secret.key'), 0o644)
  const environment = {
    SLUICE_PROT: '1',
    SLUICE_SMTP_URL: 'smtp://127.0.0.1:1',
    SLUICE_MAIL_FROM: 'sluice@example.com',
    SLUICE_SMS_URL: 'aliyun://dysmsapi.aliyuncs.com',
  }
  const found = await doctor(['--no-credentials'], { environment })
  expect(found.code).toBe(1)
  expect(found.of('configuration')).toMatchObject({
    state: 'warning',
    found: expect.stringContaining('SLUICE_PROT'),
  })
  expect(found.of('mail')).toMatchObject({ state: 'failed' })
  expect(found.of('phone messages')).toMatchObject({ state: 'failed' })
  expect(found.of('data directory')).toMatchObject({
    state: 'warning',
    fix: expect.stringContaining('chmod 700'),
  })
  expect(found.of('secret key')).toMatchObject({ state: 'failed', fix: expect.stringContaining('chmod 600') })
})

test('an invalid key and an unreadable gateway file are reported as at a start', async () => {
  await line.sluice(['apply', '-f', '-'], { input: file() })
  await truncate(join(line.directory, 'data', 'secret.key'))
  const gatewayFile = join(line.directory, 'none.yaml')
  const found = await doctor(['--no-credentials'], { environment: { SLUICE_CONFIG: gatewayFile } })
  expect(found.code).toBe(1)
  expect(found.of('secret key')).toMatchObject({
    state: 'failed',
    found: expect.stringMatching(/secret\.key does not hold a key of 32 bytes$/),
    fix: expect.stringMatching(/^restore it from a backup/),
  })
  expect(found.of('gateway file')).toMatchObject({
    state: 'warning',
    found: `${gatewayFile} cannot be read (ENOENT)`,
    fix: expect.stringContaining('SLUICE_CONFIG'),
  })
})

test('a port used by another program is reported, and so is a running gateway', async () => {
  await line.sluice(['apply', '-f', '-'], { input: file() })
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  const taken = await doctor(['--no-credentials'], { environment: { SLUICE_PORT: String(port) } })
  other.close()
  expect(taken.of(`port ${port}`)).toMatchObject({
    state: 'failed',
    fix: expect.stringContaining('SLUICE_PORT'),
  })
  const gateway = await openGateway({
    ops: true,
    environment: { SLUICE_DATA_DIR: join(line.directory, 'data') },
  })
  await gateway.catalogue(
    ...putVendor('two', upstream.url),
    putModel('n'),
    putChain({ model: 'n', vendor: 'two', forward: 'n' }),
  )
  const environment = {
    SLUICE_OPS_PORT: new URL(gateway.opsUrl).port,
    SLUICE_PORT: new URL(gateway.baseUrl).port,
  }
  const running = await doctor(['--no-credentials'], { environment })
  await gateway.close()
  expect(running.of('gateway')).toMatchObject({ state: 'ok', found: 'runs, ready' })
  expect(running.of('database')).toMatchObject({ found: 'SQLite, 1 running' })
  expect(running.told.filter(({ check }) => check.startsWith('port'))).toEqual([])
})

test('whatever is broken, all else is looked at, and each failure says what to change', async () => {
  await writeFile(join(line.directory, 'data'), 'a file where the data directory should be')
  const files = await doctor()
  expect(files).toMatchObject({ code: 1 })
  expect(files.of('data directory')).toMatchObject({ state: 'failed', fix: expect.any(String) })
  expect(files.of('database')).toMatchObject({ state: 'skipped' })
  expect(files.of('credentials')).toMatchObject({ state: 'skipped' })
  const environment = {
    SLUICE_DATA_DIR: 'elsewhere',
    SLUICE_SECRET_KEY: 'a key that is some text',
    SLUICE_DATABASE_URL: 'postgres://me:hidden@127.0.0.1:1/db',
  }
  const postgres = await doctor([], { environment })
  expect(postgres.of('database')).toMatchObject({
    state: 'failed',
    found: expect.stringContaining('ECONNREFUSED'),
    fix: expect.stringContaining('start it, or correct the host and port'),
  })
  expect(`${postgres.out}${postgres.err}`).not.toMatch(/hidden|\n\s+at /)
})

describe('a database that cannot be used is one failed row of a whole table', () => {
  const ROWS = ['node', 'configuration', 'data directory', 'database', 'stored files', 'mail', 'credentials']

  async function expectOneFailure(environment: Record<string, string>, found: RegExp, fix: RegExp) {
    const told = await doctor([], { environment })
    expect(told).toMatchObject({ code: 1, err: 'sluice: 1 check failed\n' })
    expect(told.told.map(({ check }) => check)).toEqual(expect.arrayContaining(ROWS))
    expect(told.of('database')).toMatchObject({ state: 'failed' })
    expect(told.of('database')?.found).toMatch(found)
    expect(told.of('database')?.fix).toMatch(fix)
    expect(told.of('credentials')).toMatchObject({ state: 'skipped' })
    expect(told.out).not.toMatch(/\n\s+at |hidden/)
  }

  test.each<[string, (file: string) => Promise<unknown>, RegExp, RegExp]>([
    ['text', (at) => writeFile(at, 'no database at all '.repeat(1_000)), /is damaged/, /sluice restore/],
    ['cut off in the middle', (at) => truncate(at, 50_000), /is damaged/, /sluice restore/],
    ['damaged behind its first page', damage, /is damaged/, /sluice restore/],
    [
      'a directory',
      async (at) => (await rm(at), await mkdir(at, { mode: 0o700 })),
      /cannot be opened/,
      /chown/,
    ],
  ])('SQLite, %s', async (_what, spoil, found, fix) => {
    await line.sluice(['apply', '-f', '-'], { input: file() })
    await spoil(join(line.directory, 'data', 'sluice.db'))
    await expectOneFailure({}, found, fix)
  })

  test('SQLite, held by another program', async () => {
    await line.sluice(['apply', '-f', '-'], { input: file() })
    const { DatabaseSync } = loadSqlite()
    const holder = new DatabaseSync(join(line.directory, 'data', 'sluice.db'), { timeout: 0 })
    holder.exec('pragma locking_mode = exclusive; begin exclusive')
    await expectOneFailure({}, /is held by another program/, /stop the program that holds it/)
    holder.close()
  })

  // Root may read everything.
  test.skipIf(process.getuid?.() === 0)('SQLite, not to be read by this user', async () => {
    await line.sluice(['apply', '-f', '-'], { input: file() })
    await chmod(join(line.directory, 'data', 'sluice.db'), 0o000)
    await expectOneFailure({}, /cannot be opened/, /chown/)
  })

  test.each([
    ['28P01', 'password authentication failed for user "me"', /correct the user or the password/],
    ['3D000', 'database "db" does not exist', /create the database first/],
    ['57P03', 'the database system is starting up', /try again in a moment/],
  ])('PostgreSQL, refused with %s', async (code, message, fix) => {
    await line.sluice(['apply', '-f', '-'], { input: file() })
    const body = Buffer.from(`SFATAL\0C${code}\0M${message}\0\0`)
    const head = Buffer.from([0x45, 0, 0, 0, body.length + 4])
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy())
      socket.once('data', () => socket.end(Buffer.concat([head, body])))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const url = `postgres://me:hidden@127.0.0.1:${port}/db`
    await expectOneFailure({ SLUICE_DATABASE_URL: url }, new RegExp(message), fix)
    await new Promise((resolve) => server.close(resolve))
  })
})

/** Every page but the first, which says what the file is. */
async function damage(file: string): Promise<void> {
  const bytes = await readFile(file)
  await writeFile(file, bytes.fill('damage', 4096))
}

test('a program on the operations port that never ends an answer is not a gateway', async () => {
  const patience = new AbortController()
  const endless = createHttpServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{', () => patience.abort())
  })
  await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve))
  const { port } = endless.address() as AddressInfo
  const asked = askRunning({ opsHost: '127.0.0.1', opsPort: port }, '/readyz', patience.signal)
  expect(await asked).toBeUndefined()
  await new Promise((resolve) => endless.close(resolve))
})

test('people get a table', async () => {
  const { out } = await line.sluice(['doctor', '--no-credentials'])
  expect(out).toMatch(/^CHECK +STATE +FOUND +WHAT TO DO\nnode +ok +\d+\.\d+\.\d+ +-\n/)
})

test.each([
  ['18.20.0', 'failed'],
  ['20.18.9', 'failed'],
  ['20.19.0', 'ok'],
  ['24.1.0', 'ok'],
])('Node %s is %s', (version, state) => {
  expect(checkNode(version)).toMatchObject({ state })
})

test.each([
  [100 * 1024 ** 2, 'failed'],
  [1024 ** 3, 'warning'],
  [5 * 1024 ** 3, 'ok'],
])('%i bytes free is %s', (bytes, state) => {
  expect(checkFree(bytes)).toMatchObject({ state })
})

const REPORT: DatabaseReport = {
  engine: 'postgres',
  serverVersion: 160_002,
  schema: 10,
  newestSchema: 10,
  roundTripMs: 1,
  clockAheadMs: 0,
  live: 1,
}

test.each<[string, Partial<DatabaseReport>, string, string]>([
  ['too old a server', { serverVersion: 130_000 }, 'database', 'failed'],
  ['an older schema', { schema: 9 }, 'schema', 'warning'],
  ['a database far away', { roundTripMs: 40 }, 'latency to the database', 'warning'],
  ['a clock that is off', { clockAheadMs: -3_000 }, 'clock', 'warning'],
  ['a clock that is far off', { clockAheadMs: 31_000 }, 'clock', 'failed'],
])('%s is told', (_what, change, check, state) => {
  expect(judge({ ...REPORT, ...change }).find((one) => one.check === check)).toMatchObject({ state })
  expect(judge(REPORT).every((one) => one.state === 'ok')).toBe(true)
})

test('calls that a process could not settle before it stopped are reported, and lines that could not be settled', async () => {
  await line.sluice(['apply', '-f', '-'], { input: file() })
  expect((await doctor(['--no-credentials'])).of('unsettled calls')).toMatchObject({ state: 'ok' })
  const folder = join(line.directory, 'data', 'unsettled')
  await mkdir(folder)
  await writeFile(join(folder, 'one-1.jsonl'), '')
  await writeFile(join(folder, 'two-1.jsonl.damaged'), '')
  const { told } = await doctor(['--no-credentials'])
  expect(told.filter(({ check }) => check === 'unsettled calls')).toMatchObject([
    {
      state: 'warning',
      found: expect.stringMatching(/waiting for the database: .*one-1\.jsonl$/),
      fix: expect.stringContaining('never delete'),
    },
    { state: 'warning', found: expect.stringMatching(/could not be settled: .*two-1\.jsonl\.damaged$/) },
  ])
})

describe('a file for security events', () => {
  test.each<[string, string | undefined, string, string]>([
    ['none is wanted', undefined, 'ok', 'in the log'],
    ['in a directory that is there', 'security.jsonl', 'ok', 'security.jsonl'],
    ['in a directory that is missing', 'missing/security.jsonl', 'failed', 'missing is not there'],
    ['that is a directory', '.', 'failed', 'is not a file'],
  ])('%s', (_name, name, state, found) => {
    const securityLog = name === undefined ? undefined : join(line.directory, name)
    const finding = checkSecurityLog({ securityLog })
    expect(finding).toMatchObject({ check: 'security log', state })
    expect(finding.found).toContain(found)
  })

  test('is looked at and not made', async () => {
    const file = join(line.directory, 'events.jsonl')
    const { of } = await doctor([], { environment: { SLUICE_SECURITY_LOG: file } })
    expect(of('security log')).toMatchObject({ state: 'ok', found: file })
    expect(await readdir(line.directory)).not.toContain('events.jsonl')
  })
})
