/** What an operator reads when the gateway cannot start: what is wrong, and what to change. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readConfig } from '../config/environment.ts'
import pg from 'pg'
import { createFreshDatabase } from '../../test/postgres/fresh-database.ts'
import { serverUrl } from '../../test/postgres/server.ts'
import { translateError } from '../storage/postgres/connect.ts'
import { StorageUnavailable } from '../storage/failures/unavailable.ts'
import { findStartFailure, startFailureText, unforeseenText } from './start-failure.ts'
import { prepareStore } from './start-gateway.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-start-'))
})
afterEach(() => rm(directory, { recursive: true }))

const configWith = (environment: Readonly<Record<string, string>> = {}) =>
  readConfig({ SLUICE_DATA_DIR: directory, SLUICE_LOG_LEVEL: 'silent', ...environment })

/** Opens the store as a start does, and returns the explanation of its failure. */
async function failureOf(environment: Readonly<Record<string, string>> = {}): Promise<string> {
  const config = configWith(environment)
  const failed = await prepareStore(config, () => Promise.resolve()).then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  return failed === undefined ? 'it started' : sentenceOf(failed.error, environment)
}

function sentenceOf(error: unknown, environment: Readonly<Record<string, string>> = {}): string {
  const failure = findStartFailure(error, configWith(environment))
  return failure === undefined ? 'not foreseen' : startFailureText(failure)
}

describe('a store that cannot be opened', () => {
  test('a file that is no database', async () => {
    await writeFile(join(directory, 'sluice.db'), 'this is the text of something else entirely')
    expect(await failureOf()).toMatch(/sluice\.db is damaged, or not a database .* sluice restore/)
  })

  test('a database made with another key, and the key that was made meanwhile is gone again', async () => {
    expect(await failureOf()).toBe('it started')
    expect(await failureOf({ SLUICE_SECRET_KEY: 'another key than before' })).toMatch(
      /the secret key is not the one/,
    )
    await rm(join(directory, 'secret.key'))
    expect(await failureOf()).toMatch(/the file secret\.key of the data directory, as it was/)
    expect(await readdir(directory)).not.toContain('secret.key')
  })

  test('a PostgreSQL server that is not running', async () => {
    const sentence = await failureOf({ SLUICE_DATABASE_URL: 'postgres://me:hidden@127.0.0.1:1/db' })
    expect(sentence).toMatch(/SLUICE_DATABASE_URL .* nothing listens there/)
    expect(sentence).not.toContain('hidden')
  })

  test('a PostgreSQL database that does not exist', async () => {
    const url = new URL(await serverUrl())
    url.pathname = '/nobody_made_this'
    expect(await failureOf({ SLUICE_DATABASE_URL: url.href })).toMatch(/does not exist.*createdb/)
  })

  test('users of PostgreSQL who may not sign in, or may not make tables', async () => {
    const database = await createFreshDatabase()
    const [, name = ''] = new URL(database.url).pathname.split('/')
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    const as = (user: string): string => Object.assign(new URL(database.url), { username: user }).href
    try {
      await client.query(`create role ${name}_barred nologin; create role ${name}_weak login;
        revoke create on schema public from public`)
      const barred = await failureOf({ SLUICE_DATABASE_URL: as(`${name}_barred`) })
      expect(barred).toMatch(/not permitted to log in.*correct the user/)
      const weak = await failureOf({ SLUICE_DATABASE_URL: as(`${name}_weak`) })
      expect(weak).toMatch(/permission denied.*must own the database/)
    } finally {
      await client.query(`drop role if exists ${name}_barred; drop role if exists ${name}_weak`)
      await client.end()
      await database.drop()
    }
  })

  test.each([
    ['28P01', /correct the user or the password/],
    ['53300', /max_connections/],
    ['57P03', /try again/],
  ])('what PostgreSQL says with %s', (code, fix) => {
    const said = Object.assign(new pg.DatabaseError('no', 0, 'error'), { code })
    expect(sentenceOf(translateError(said), { SLUICE_DATABASE_URL: 'postgres://me:x@db/a' })).toMatch(fix)
  })

  test('a PostgreSQL that asks for a password where the address has none', () => {
    const asked = translateError(new Error('client password must be a string'))
    expect(sentenceOf(asked, { SLUICE_DATABASE_URL: 'postgres://me@db/a' })).toMatch(/names no password/)
    expect(sentenceOf(asked, { SLUICE_DATABASE_URL: 'postgres://me:x@db/a' })).toMatch(/log of PostgreSQL/)
  })

  test.each([
    [5, 'database is locked', /held by another program.*stop the program that holds it/],
    [13, 'database or disk is full', /disk is full.*make room/],
    [8 + 256, 'attempt to write a readonly database', /cannot be written.*chown/],
    [1, 'odd', /cannot be used.*disk/],
  ])('what SQLite says with %i', (errcode, message, sentence) => {
    const cause = Object.assign(new Error(message), { errcode })
    expect(sentenceOf(new StorageUnavailable(`SQLite: ${message}`, { cause }))).toMatch(sentence)
  })
})

describe('files', () => {
  test.each([
    ['EACCES', 'scandir', '/srv/data', /\/srv\/data cannot be used by this user .*chown/],
    [
      'EROFS',
      'mkdir',
      '/srv/data/blobs',
      /\/srv\/data\/blobs lies on a read-only file system .*SLUICE_DATA_DIR/,
    ],
    ['ENOSPC', 'write', undefined, /sluice-start-\S+ cannot be written, its disk is full .*make room/],
  ])('%s of %s', (code, syscall, path, sentence) => {
    const error = Object.assign(new Error(`${code}: said the system`), {
      code,
      syscall,
      ...(path !== undefined && { path }),
    })
    expect(sentenceOf(error)).toMatch(sentence)
  })

  test('a connection that was refused is none of them', () => {
    expect(sentenceOf(Object.assign(new Error('x'), { code: 'EACCES', syscall: 'connect' }))).toBe(
      'not foreseen',
    )
  })
})

describe('a port that cannot be listened on', () => {
  const listening = (code: string, port: number, address = '::', syscall = 'listen') =>
    Object.assign(new Error(code), { code, syscall, port, address })

  test.each([
    [listening('EADDRINUSE', 8080), 'port 8080 is taken by another program', 'SLUICE_PORT to'],
    [listening('EADDRINUSE', 8081), 'port 8081 is taken by another program', 'SLUICE_GATEWAY_PORT to'],
    [listening('EADDRINUSE', 9090), 'port 9090 is taken by another program', 'SLUICE_OPS_PORT to'],
    [listening('EADDRINUSE', 8080, '::', 'bind'), 'port 8080 is taken by another program', 'SLUICE_PORT to'],
    [listening('EACCES', 8080), 'this user may not listen on port 8080', 'above 1023'],
    [listening('EADDRNOTAVAIL', 8080, '10.9.9.9'), '10.9.9.9 is not an address', 'set SLUICE_HOST'],
    [listening('EADDRNOTAVAIL', 9090, '10.9.9.9'), '10.9.9.9 is not an address', 'set SLUICE_OPS_HOST'],
  ])('%s: %s', (error, what, change) => {
    const sentence = sentenceOf(error)
    expect(sentence).toContain(what)
    expect(sentence).toContain(change)
  })
})

test('an unexpected error is shown without its stack, unless the stack is requested', () => {
  const error = new TypeError('x is not a function', { cause: new Error('because') })
  expect(findStartFailure(error, configWith())).toBeUndefined()
  expect(findStartFailure(undefined, configWith())).toBeUndefined()
  expect(unforeseenText(error, 'info')).toMatch(
    /^x is not a function \(because\)\nThis is unexpected\. SLUICE_LOG_LEVEL=debug/,
  )
  expect(unforeseenText(error, 'debug')).toMatch(/\n\s+at /)
})
