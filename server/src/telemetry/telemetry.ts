import { type Background, createBackground } from './background.ts'
import { createLog, type Log, type LogSettings } from './log.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { createSecurityLog, type SecurityLog } from './security-log.ts'

/** What modules use to report: a log for operators, metrics for monitoring, tracking of background promises. */
export interface Telemetry {
  readonly log: Log
  readonly metrics: Metrics
  readonly security: SecurityLog
  readonly background: Background
  /** Waits for the background work, then writes out what the log still holds. Called last. */
  close(): Promise<void>
}

export interface TelemetrySettings extends LogSettings {
  /** Time limit of `close` for background work that does not end, ms. */
  readonly drainMs?: number
  /** Where security events go, absolute; absent: the log. */
  readonly securityLog?: string | undefined
}

/** Settling many calls at shutdown takes seconds; what takes longer is left to recovery. */
const DRAIN_MS = 10_000

export function createTelemetry(settings: TelemetrySettings): Telemetry {
  const { log, flush } = createLog(settings)
  const background = createBackground(log)
  const metrics = createMetrics({ version: settings.version })
  const security = createSecurityLog({
    log,
    now: settings.now,
    file: settings.securityLog,
    counted: (event) => metrics.securityEvent(event),
  })
  return {
    log,
    metrics,
    security,
    background,
    async close() {
      const left = await background.drain(settings.drainMs ?? DRAIN_MS)
      if (left > 0) log.warn({ left }, 'background work did not end in time')
      await security.close()
      await flush()
    },
  }
}
