/** The gateway as a process of its own whose beats are as short as a test is, on a store that was set up before. */
import { readConfig } from '../../src/config/environment.ts'
import { startGateway } from '../../src/app/start-gateway.ts'

const [, , beatMs = '5000', silentMs = '20000'] = process.argv

const LATE_EVERY_MS = Number(silentMs) / 40
let seenAt = performance.now()
// A process that was paused, or got no time from the machine, says for how long.
setInterval(() => {
  const now = performance.now()
  const ms = Math.round(now - seenAt)
  if (ms > 10 * LATE_EVERY_MS) process.stderr.write(`${JSON.stringify({ event: 'late', ms })}\n`)
  seenAt = now
}, LATE_EVERY_MS).unref()

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
