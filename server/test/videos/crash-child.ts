/** A whole gateway in a process of its own, on a store its parent prepared, until it is killed. Prints its address. */
import { readConfig } from '../../src/config/environment.ts'
import { startGateway } from '../../src/app/start-gateway.ts'

const aheadMs = Number(process.env['AHEAD_MS'] ?? 0)
const config = readConfig({
  SLUICE_DATA_DIR: process.env['SLUICE_DATA_DIR'],
  SLUICE_DATABASE_URL: process.env['SLUICE_DATABASE_URL'],
  SLUICE_HOST: '127.0.0.1',
  SLUICE_PORT: '0',
  SLUICE_GATEWAY_PORT: '0',
  SLUICE_LOG_LEVEL: 'silent',
})
const running = await startGateway(config, () => Promise.resolve(), {
  ops: false,
  timing: { now: () => Date.now() + aheadMs, pollPace: 0.002 },
})
process.stdout.write(`${running.baseUrl}\n`)
