/**
 * One PostgreSQL server for one test run, started by the first test file that needs it. Threads and processes of the
 * run find it by a file in a folder named after the run; a folder whose run is gone is an orphan and is cleaned first.
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { findBinaries } from './binaries.ts'
import { makeDataFolder, removeDataFolder } from './data-folder.ts'
import { chooseServerUser, type ServerUser } from './server-user.ts'

/** Set by `setup.ts`, so that the processes of one run share a server. */
export const RUN_VARIABLE = 'SLUICE_TEST_RUN'
const USER = 'sluice'
const WAIT_MS = 50
const START_TIMEOUT_MS = 60_000
/** Another process may take the free port in between. */
const PORT_TRIES = 5

/** Address of a database whose user may create others: `TEST_DATABASE_URL`, else the run's own server. */
export async function serverUrl(): Promise<string> {
  const given = process.env['TEST_DATABASE_URL']
  if (given !== undefined && given !== '') return given
  const folder = runFolder(process.env[RUN_VARIABLE] ?? String(process.pid))
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  return withLock(folder, async () => {
    const running = readUrl(folder)
    if (running !== undefined) return running
    removeOrphans()
    const url = await start(folder)
    writeFileSync(join(folder, 'url'), url)
    return url
  })
}

/** Stops the run's server, if one was started. */
export function stopServer(run: string): void {
  removeRun(runFolder(run))
}

/** A server of a test's own, to be stopped and started at will. */
export interface OwnServer {
  readonly port: number
  /** The process whose children serve the connections. */
  readonly pid: number | undefined
  /** Ends it as an operator would (open transactions are rolled back), and resolves when it is gone. */
  stop(): Promise<void>
  /** Starts it again on the same data; resolves with the port it listens on now. */
  startAgain(): Promise<number>
  /** Removes it with its data. */
  close(): void
}

/**
 * Named after this process, so that a run that was killed leaves no orphan for ever.
 * @param durable with the settings an operator would use, for figures
 */
export async function openOwnServer(name: string, { durable = false } = {}): Promise<OwnServer> {
  const folder = runFolder(`${process.pid}-${name}`)
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  const url = await start(folder, durable)
  const data = join(folder, 'data')
  return {
    port: Number(new URL(url).port),
    pid: postmasterOf(data),
    async stop() {
      const pid = postmasterOf(data)
      if (pid === undefined) return
      process.kill(pid, 'SIGINT')
      while (existsSync(join(data, 'postmaster.pid'))) await wait(WAIT_MS)
    },
    async startAgain() {
      const user = chooseServerUser()
      const { postgres } = findBinaries(user, baseFolder())
      return Number(new URL(await listen({ postgres, folder, user, durable })).port)
    },
    close: () => removeRun(folder),
  }
}

function baseFolder(): string {
  const owner = process.getuid?.() ?? 'user'
  return join(tmpdir(), `sluice-test-postgres-${owner}`)
}

const runFolder = (run: string): string => join(baseFolder(), `run-${run}`)

function readUrl(folder: string): string | undefined {
  const path = join(folder, 'url')
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

async function withLock<Value>(folder: string, work: () => Promise<Value>): Promise<Value> {
  const lock = join(folder, 'lock')
  const giveUpAt = Date.now() + START_TIMEOUT_MS
  while (!tryLock(lock)) {
    if (Date.now() > giveUpAt) throw new Error(`${lock} is held for too long; remove it if no test runs`)
    await wait(WAIT_MS)
  }
  try {
    return await work()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

function tryLock(lock: string): boolean {
  try {
    mkdirSync(lock)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

async function start(folder: string, durable = false): Promise<string> {
  const user = chooseServerUser()
  const binaries = findBinaries(user, baseFolder())
  const data = join(folder, 'data')
  chmodSync(baseFolder(), 0o755)
  makeDataFolder(data, user, durable)
  const created = spawnSync(
    binaries.initdb,
    ['-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { ...user.spawn, cwd: data, encoding: 'utf8' },
  )
  if (created.status !== 0) throw new Error(`initdb failed: ${created.stderr}${String(created.error ?? '')}`)
  return listen({ postgres: binaries.postgres, folder, user, durable })
}

async function listen(server: {
  readonly postgres: string
  readonly folder: string
  readonly user: ServerUser
  readonly durable: boolean
}): Promise<string> {
  const { postgres, folder, user, durable } = server
  const data = join(folder, 'data')
  for (let tries = 1; ; tries++) {
    const port = await freePort()
    const url = `postgres://${USER}@127.0.0.1:${port}/postgres`
    const ended = launch(postgres, { data, port, user, durable, logPath: join(folder, 'log') })
    if (await isReady(url, ended)) return url
    if (tries === PORT_TRIES) {
      throw new Error(`PostgreSQL does not start: ${readFileSync(join(folder, 'log'), 'utf8')}`)
    }
  }
}

interface Launch {
  readonly data: string
  readonly port: number
  readonly user: ServerUser
  readonly durable: boolean
  readonly logPath: string
}

/** What a test writes need not survive the machine. */
const NOT_DURABLE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

/** Returns how to ask whether it has ended. */
function launch(postgres: string, { data, port, user, durable, logPath }: Launch): () => boolean {
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: durable ? '256MB' : '64MB',
    ...(durable ? {} : NOT_DURABLE),
  }
  const log = openSync(logPath, 'a')
  const child = spawn(
    postgres,
    [
      '-D',
      data,
      '-p',
      String(port),
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    { ...user.spawn, cwd: data, stdio: ['ignore', log, log] },
  )
  closeSync(log)
  let ended = false
  child.once('exit', () => {
    ended = true
  })
  child.once('error', () => {
    ended = true
  })
  // The run's end stops it, not this thread's.
  child.unref()
  return () => ended
}

async function isReady(url: string, ended: () => boolean): Promise<boolean> {
  const giveUpAt = Date.now() + START_TIMEOUT_MS
  while (!ended() && Date.now() < giveUpAt) {
    const client = new pg.Client({ connectionString: url })
    try {
      await client.connect()
      return true
    } catch {
      // Refused until it listens; what really keeps it from starting is in its log.
      await wait(WAIT_MS)
    } finally {
      await client.end()
    }
  }
  return false
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => {
        if (address === null || typeof address === 'string') reject(new Error('no port was given'))
        else resolve(address.port)
      })
    })
  })
}

function removeOrphans(): void {
  for (const name of readdirSync(baseFolder())) {
    const [, run] = /^run-(\d+)(?:-.*)?$/.exec(name) ?? []
    if (run !== undefined && !isAlive(Number(run))) removeRun(join(baseFolder(), name))
  }
}

function removeRun(folder: string): void {
  const data = join(folder, 'data')
  const pid = postmasterOf(data)
  // SIGQUIT ends a postmaster and its children at once; nothing of its data is wanted any more.
  if (pid !== undefined) process.kill(pid, 'SIGQUIT')
  removeDataFolder(data)
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: WAIT_MS })
}

/** undefined: no server of this folder runs. */
function postmasterOf(data: string): number | undefined {
  const pidFile = join(data, 'postmaster.pid')
  if (!existsSync(pidFile)) return undefined
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0])
  return isServerOf(data, pid) ? pid : undefined
}

/** The number may have gone to another process since: only the server of this very folder is meant. */
function isServerOf(data: string, pid: number): boolean {
  if (!(pid > 0)) return false
  const commandLine = `/proc/${pid}/cmdline`
  if (existsSync('/proc/self/cmdline')) {
    return existsSync(commandLine) && readFileSync(commandLine, 'utf8').includes(data)
  }
  const listed = spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' })
  return listed.status === 0 && listed.stdout.includes(data)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
