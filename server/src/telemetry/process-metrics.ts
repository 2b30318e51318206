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
  return registry.metrics()
}

export const METRICS_CONTENT_TYPE: string = Registry.PROMETHEUS_CONTENT_TYPE
