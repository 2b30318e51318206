import { setTimeout as delay } from 'node:timers/promises'
import { collectDefaultMetrics, Registry } from 'prom-client'

let registry: Registry | undefined

/**
 * CPU, memory, garbage collection, open files and event-loop lag of this process, in Prometheus text form. There is one
 * process, so there is one collector; it starts at the first request, and costs nothing before.
 */
export async function readProcessMetrics(): Promise<string> {
  if (registry === undefined) {
    registry = new Registry()
    collectDefaultMetrics({ register: registry })
  }
  // The request may have waited for a block of the event loop, which is measured when the next timers run; a look before
  // that would begin the measurement anew and lose it.
  await delay(1)
  return registry.metrics()
}

export const METRICS_CONTENT_TYPE: string = Registry.PROMETHEUS_CONTENT_TYPE
