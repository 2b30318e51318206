/** What another user of the machine could read of a running gateway's files. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { launch } from './launch.ts'

test.each([
  ['022', 0o755],
  ['000', 0o777],
  ['022', 0o700],
])(
  'with umask %s and a data directory made beforehand, every file and directory is its owner’s alone',
  async (umask, mode) => {
    const parent = mkdtempSync(join(tmpdir(), 'sluice-modes-'))
    const directory = join(parent, 'data')
    mkdirSync(directory)
    chmodSync(directory, mode)
    const running = await launch({ SLUICE_DATA_DIR: directory }, umask)
    const found = readdirSync(directory, { recursive: true, withFileTypes: true })
    const names = found.map(({ name }) => name)
    const open = [directory, ...found.map(({ parentPath, name }) => join(parentPath, name))].filter(
      (path) => (statSync(path).mode & 0o077) !== 0,
    )
    await running.stop()
    expect(names).toEqual(
      expect.arrayContaining(['secret.key', 'sluice.db', 'sluice.db-shm', 'sluice.db-wal']),
    )
    expect(open).toEqual([])
    expect(running.errors().includes('is open to other users')).toBe(mode !== 0o700)
    rmSync(parent, { recursive: true })
  },
)
