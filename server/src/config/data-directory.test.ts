import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Secret } from '../core/secret.ts'
import { openDataDirectory, secretKeyBytes } from './data-directory.ts'
import { ConfigError } from './environment.ts'

let parent: string
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'sluice-data-'))
})
afterEach(async () => {
  await rm(parent, { recursive: true, force: true })
})

const at = (dataDirectory: string, secretKey?: Secret) => ({ dataDirectory, secretKey })

test('directory and key are made once, for their owner alone, and kept', async () => {
  const directory = join(parent, 'deep', 'data')
  const first = await openDataDirectory(at(directory))
  const second = await openDataDirectory(at(directory))
  expect(first.madeKey).toBe(true)
  expect(second.madeKey).toBe(false)
  expect(first.secretKey).toHaveLength(32)
  expect(second.secretKey).toEqual(first.secretKey)
  expect((await stat(directory)).mode & 0o777).toBe(0o700)
  expect((await stat(join(directory, 'secret.key'))).mode & 0o777).toBe(0o600)
})

test('processes that start at once agree on one key and leave no scraps', async () => {
  const directory = join(parent, 'data')
  const opened = await Promise.all(Array.from({ length: 12 }, () => openDataDirectory(at(directory))))
  expect(opened.filter((one) => one.madeKey)).toHaveLength(1)
  expect(new Set(opened.map((one) => Buffer.from(one.secretKey).toString('hex'))).size).toBe(1)
  expect(await readdir(directory)).toEqual(['secret.key'])
})

test('a key from the environment wins and no file is made', async () => {
  const opened = await openDataDirectory(at(join(parent, 'data'), new Secret('ab'.repeat(32))))
  expect(opened.secretKey).toEqual(new Uint8Array(32).fill(0xab))
  expect(await readdir(join(parent, 'data'))).toEqual([])
})

test('a damaged key file is refused and not replaced: a new key could not read what is stored', async () => {
  await writeFile(join(parent, 'secret.key'), 'half a k')
  await expect(openDataDirectory(at(parent))).rejects.toThrow(ConfigError)
  expect(await readFile(join(parent, 'secret.key'), 'utf8')).toBe('half a k')
})

test('a data directory that cannot be made names its variable', async () => {
  await writeFile(join(parent, 'file'), '')
  await expect(openDataDirectory(at(join(parent, 'file', 'data')))).rejects.toThrow(/SLUICE_DATA_DIR/)
})

test.each([
  ['hex', '00ff'.repeat(16)],
  ['base64', Buffer.from('00ff'.repeat(16), 'hex').toString('base64')],
  ['base64url', Buffer.from('00ff'.repeat(16), 'hex').toString('base64url')],
])('32 bytes as %s are taken as they are', (_form, text) => {
  expect(Buffer.from(secretKeyBytes(text)).toString('hex')).toBe('00ff'.repeat(16))
})

test('other text becomes the same 32 bytes everywhere', () => {
  expect(secretKeyBytes('correct horse battery staple')).toHaveLength(32)
  expect(secretKeyBytes('correct horse battery staple')).toEqual(
    secretKeyBytes('correct horse battery staple'),
  )
})

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

describe('another user of the machine who looks into the data directory', () => {
  test.each(['755', '775', '750', '777'])(
    'finds it closed, although it was made beforehand with %s',
    async (mode) => {
      const directory = join(parent, 'data')
      await mkdir(directory)
      await chmod(directory, Number.parseInt(mode, 8))
      const { tightened } = await openDataDirectory(at(directory))
      expect(await modeOf(directory)).toBe('700')
      expect(tightened).toEqual([`${directory} is open to other users (0${mode}): its mode is 0700 now`])
      expect((await openDataDirectory(at(directory))).tightened).toEqual([])
    },
  )

  test('makes the database, the files beside it, the key and the stored files readable by the owner only', async () => {
    const files = ['sluice.db', 'sluice.db-wal', 'sluice.db-shm', 'secret.key']
    for (const name of files) {
      await writeFile(join(parent, name), name === 'secret.key' ? 'ab'.repeat(32) : '')
      await chmod(join(parent, name), 0o644)
    }
    const directories = ['blobs', 'unsettled']
    for (const name of directories) {
      await mkdir(join(parent, name))
      await chmod(join(parent, name), 0o755)
    }
    const { tightened } = await openDataDirectory(at(parent))
    for (const name of files) expect(await modeOf(join(parent, name)), name).toBe('600')
    for (const name of directories) expect(await modeOf(join(parent, name)), name).toBe('700')
    expect(tightened).toHaveLength(6)
  })

  test('is the only one who is kept out: files of other names, and what links name, stay as they are', async () => {
    const other = join(parent, 'notes.txt')
    const directory = join(parent, 'data')
    await mkdir(directory, { mode: 0o700 })
    await writeFile(other, '')
    await writeFile(join(directory, 'notes.txt'), '')
    await symlink(other, join(directory, 'sluice.db'))
    for (const path of [other, join(directory, 'notes.txt')]) await chmod(path, 0o644)
    expect((await openDataDirectory(at(directory))).tightened).toEqual([])
    expect(await modeOf(other)).toBe('644')
    expect(await modeOf(join(directory, 'notes.txt'))).toBe('644')
  })

  test('a directory that all users share is refused and not changed', async () => {
    const directory = join(parent, 'shared')
    await mkdir(directory)
    await chmod(directory, 0o1777)
    await expect(openDataDirectory(at(directory))).rejects.toThrow(/SLUICE_DATA_DIR/)
    expect((await stat(directory)).mode & 0o7777).toBe(0o1777)
  })
})

// Linux and macOS: Windows has no such pipes.
test.skipIf(process.platform === 'win32')(
  'a key that is a pipe or a directory is refused, not waited for',
  async () => {
    const directory = join(parent, 'data')
    const file = join(directory, 'secret.key')
    await mkdir(file, { recursive: true, mode: 0o700 })
    await expect(openDataDirectory(at(directory))).rejects.toThrow(`${file} does not hold a key of 32 bytes`)
    await rm(file, { recursive: true })
    execFileSync('/bin/sh', ['-c', 'mkfifo -m 600 "$0"', file])
    await expect(openDataDirectory(at(directory))).rejects.toThrow(`${file} does not hold a key of 32 bytes`)
  },
)
