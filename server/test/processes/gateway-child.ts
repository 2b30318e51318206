/** The gateway as a process of its own whose beats are as short as a test is, on a store that was set up before. */
import { readConfig } from '../../src/config/environment.ts'
import { startGateway } from '../../src/house/start-gateway.ts'

const [, , beatMs = '5000', silentMs = '20000'] = process.argv

const running = await startGateway(readConfig(process.env), () => Promise.resolve(), {
  ops: true,
  bent: { now: Date.now, videoPace: 1, periods: { beatMs: Number(beatMs), silentMs: Number(silentMs) } },
})
process.on('SIGTERM', () => {
  running.stop().then(
    () => process.exit(0),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`)
      process.exit(1)
    },
  )
})
const { baseUrl, opsUrl } = running
process.stdout.write(`${JSON.stringify({ event: 'ready', base_url: baseUrl, ops_url: opsUrl })}\n`)
