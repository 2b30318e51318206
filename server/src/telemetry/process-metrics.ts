import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'

/** The file descriptors of this process; Linux has it. */
const OPEN_FILES = '/proc/self/fd'

/**
 * Each of these looks at every connection on the thread that serves calls: 200 ms for 10 000 of them. Files are counted
 * beside it, in Node's own threads; what the rest is for, open calls and the lag of the event loop say better.
 */
const COSTLY = [
  'process_open_fds',
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
  'nodejs_active_resources',
  'nodejs_active_resources_total',
]

let registry: Registry | undefined

/**
 * CPU, memory, garbage collection, open files and event-loop lag of this process, in Prometheus text form. There is one
 * process, so there is one collector; it starts at the first request, and costs nothing before.
 */
export async function readProcessMetrics(): Promise<string> {
  registry ??= collector()
  // The request may have waited for a block of the event loop, which is measured when the next timers run; a look before
  // that would begin the measurement anew and lose it.
  await delay(1)
  return registry.metrics()
}

function collector(): Registry {
  const made = new Registry()
  collectDefaultMetrics({ register: made })
  for (const name of COSTLY) made.removeSingleMetric(name)
  if (!existsSync(OPEN_FILES)) return made
  const gauge: Gauge = new Gauge({
    name: 'process_open_fds',
    help: 'Number of open file descriptors.',
    registers: [made],
    collect: async () => {
      try {
        // The look itself opens one.
        gauge.set((await readdir(OPEN_FILES)).length - 1)
      } catch {
        // Most likely none is left to look with: the last count says more than none at all.
      }
    },
  })
  return made
}

export const METRICS_CONTENT_TYPE: string = Registry.PROMETHEUS_CONTENT_TYPE
