/** What an operator reads when the gateway cannot start: what is wrong, and what to change. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readConfig } from '../config/environment.ts'
import { explainStartFailure } from './start-failure.ts'
import { prepareStore } from './start-gateway.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-start-'))
})
afterEach(() => rm(directory, { recursive: true }))

const configWith = (environment: Readonly<Record<string, string>> = {}) =>
  readConfig({ SLUICE_DATA_DIR: directory, SLUICE_LOG_LEVEL: 'silent', ...environment })

/** Opens the store as a start does, and tells how its failure is explained. */
async function failureOf(environment: Readonly<Record<string, string>> = {}): Promise<string | undefined> {
  const config = configWith(environment)
  const failed = await prepareStore(config, () => Promise.resolve()).then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  return failed === undefined ? 'it started' : explainStartFailure(failed.error, config)
}

describe('a store that cannot be opened', () => {
  test('a file that is no database', async () => {
    await writeFile(join(directory, 'sluice.db'), 'this is the text of something else entirely')
    expect(await failureOf()).toMatch(/sluice\.db is damaged, or no database at all .* sluice restore/)
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

  test('a PostgreSQL that nobody has started', async () => {
    const sentence = await failureOf({ SLUICE_DATABASE_URL: 'postgres://me:hidden@127.0.0.1:1/db' })
    expect(sentence).toMatch(/SLUICE_DATABASE_URL .* nothing listens there/)
    expect(sentence).not.toContain('hidden')
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
    [listening('EACCES', 8080), 'port 8080 may not be listened on', 'above 1023'],
    [listening('EADDRNOTAVAIL', 8080, '10.9.9.9'), '10.9.9.9 is not', 'SLUICE_HOST must'],
    [listening('EADDRNOTAVAIL', 9090, '10.9.9.9'), '10.9.9.9 is not', 'SLUICE_OPS_HOST must'],
  ])('%s: %s', (error, what, change) => {
    const sentence = explainStartFailure(error, configWith())
    expect(sentence).toContain(what)
    expect(sentence).toContain(change)
  })
})

test('what nobody foresaw keeps its stack', () => {
  expect(explainStartFailure(new TypeError('x is not a function'), configWith())).toBeUndefined()
  expect(explainStartFailure(undefined, configWith())).toBeUndefined()
})
