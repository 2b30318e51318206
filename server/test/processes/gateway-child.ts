/** The gateway as a process of its own whose beats are as short as a test is, on a store that was set up before. */
import { readConfig } from '../../src/config/environment.ts'
import { startGateway } from '../../src/app/start-gateway.ts'

const [, , beatMs = '5000', silentMs = '20000'] = process.argv

const LOOK_MS = Number(silentMs) / 40
/** How late each look of the last `silentMs` was. */
const delays: { readonly at: number; readonly ms: number }[] = []
let seenAt = performance.now()
let worst = Number(silentMs) / 4
// A process that was paused, or got no time from the machine, says for how long in all: a beat is many short turns of
// several threads, and is late by the sum of them. Said again only when it gets worse.
setInterval(() => {
  const now = performance.now()
  delays.push({ at: now, ms: Math.max(0, now - seenAt - LOOK_MS) })
  seenAt = now
  while ((delays[0]?.at ?? now) < now - Number(silentMs)) delays.shift()
  const late = delays.reduce((sum, { ms }) => sum + ms, 0)
  if (late <= worst) return
  worst = late + LOOK_MS
  process.stderr.write(`${JSON.stringify({ event: 'late', ms: Math.round(late) })}\n`)
}, LOOK_MS).unref()

const running = await startGateway(readConfig(process.env), () => Promise.resolve(), {
  ops: true,
  timing: { now: Date.now, pollPace: 1, periods: { beatMs: Number(beatMs), silentMs: Number(silentMs) } },
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
