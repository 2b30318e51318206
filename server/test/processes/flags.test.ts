/** An operator starts the process with flags of Node's own, such as the size of its heap. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

test('flags that only a whole process takes do not keep the storage thread from starting', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-flags-'))
  const child = spawn(
    process.execPath,
    ['--max-old-space-size=512', '--expose-gc', '--enable-source-maps', CLI, 'migrate'],
    {
      env: { PATH: process.env['PATH'] ?? '', SLUICE_DATA_DIR: directory },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString('utf8')
  })
  const [code] = await once(child, 'exit')
  rmSync(directory, { recursive: true })
  expect([code, errors]).toEqual([0, ''])
})
