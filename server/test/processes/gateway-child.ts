/** The gateway as a process of its own whose beats are as short as a test is, on a store that was set up before. */
import { readdirSync, readFileSync } from 'node:fs'
import { readConfig } from '../../src/config/environment.ts'
import { startGateway } from '../../src/app/start-gateway.ts'

const [, , beatMs = '5000', silentMs = '20000'] = process.argv

const LOOK_MS = Number(silentMs) / 40
/** Threads of a busy machine take turns. */
const USUAL_WAIT_MS = Number(silentMs) / 4
/** How late each look of the last `silentMs` was, and how long each thread had waited for the machine by then. */
const looks: {
  readonly at: number
  readonly lateMs: number
  readonly waited: ReadonlyMap<string, number>
}[] = []
let seenAt = performance.now()
let worst = Number(silentMs) / 4
// A process that was paused, or got no time from the machine, says for how long in all: a beat is many short turns of
// several threads, and is late by the sum of them. Said again only when it gets worse.
setInterval(() => {
  const now = performance.now()
  looks.push({ at: now, lateMs: Math.max(0, now - seenAt - LOOK_MS), waited: waitedOfThreads() })
  seenAt = now
  while ((looks[0]?.at ?? now) < now - Number(silentMs)) looks.shift()
  const late = looks.reduce(
    (sum, { lateMs }) => sum + lateMs,
    Math.max(0, longestWait(looks) - USUAL_WAIT_MS),
  )
  if (late <= worst) return
  worst = late + LOOK_MS
  process.stderr.write(`${JSON.stringify({ event: 'late', ms: Math.round(late) })}\n`)
}, LOOK_MS).unref()

/** Of the threads beside this one, by their ids, ms since they began. Empty where the system does not count it. */
function waitedOfThreads(): ReadonlyMap<string, number> {
  try {
    const others = readdirSync('/proc/self/task').filter((id) => id !== String(process.pid))
    return new Map(others.map((id) => [id, waitedMs(id)]))
  } catch {
    // Another system, or a thread that has just ended.
    return new Map()
  }
}

/** The second number: nanoseconds for which it could have run and did not. */
function waitedMs(id: string): number {
  return Number(readFileSync(`/proc/self/task/${id}/schedstat`, 'utf8').split(' ')[1]) / 1e6
}

function longestWait(seen: typeof looks): number {
  const [first, last] = [seen[0], seen.at(-1)]
  const waits = [...(last?.waited ?? [])].map(([id, ms]) => ms - (first?.waited.get(id) ?? ms))
  return Math.max(0, ...waits)
}

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
