/** How long a start and a command take, and what a process holds that does nothing. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { residentBytes, startPinned } from './processes.mjs'

const run = promisify(execFile)
const MIB = 1_048_576

/** On all cores, as an operator starts it: a start has several threads. */
export async function measureStart({ root, folder, rest }) {
  const data = mkdtempSync(join(folder, 'start-'))
  const env = {
    NODE_ENV: 'production',
    SLUICE_DATA_DIR: data,
    SLUICE_HOST: '127.0.0.1',
    SLUICE_PORT: '0',
    SLUICE_GATEWAY_PORT: '0',
    SLUICE_OPS_PORT: '0',
  }
  const start = () =>
    startPinned({
      core: '0,1',
      file: process.execPath,
      args: [join(root, 'server/dist/main.js')],
      cwd: folder,
      env,
      ready: (printed) => (printed.includes('"event":"ready"') ? true : undefined),
    })
  const command = async (...args) => {
    const before = performance.now()
    await run(process.execPath, [join(root, 'server/dist/cli.js'), ...args], {
      env: { ...process.env, ...env },
      cwd: folder,
    })
    return performance.now() - before
  }
  await (await start()).stop()
  const before = performance.now()
  const running = await start()
  const second = performance.now() - before
  await new Promise((resolve) => setTimeout(resolve, rest))
  const resident = residentBytes(running.pid)
  await running.stop()
  const figures = {
    'second start, ms': second,
    'resident MiB at rest': resident / MIB,
    'sluice --help, ms': await command('--help'),
    'sluice accounts list, ms': await command('accounts', 'list'),
  }
  rmSync(data, { recursive: true, force: true })
  return figures
}
