/**
 * The answers of the operator's port, by what is known about the thread that serves calls. A busy process is alive and
 * must not be restarted; one that is silent for too long hangs and should be.
 */
import type { Known, Question } from './ops-messages.ts'

/** A thread that is silent for longer is busy with a single task. */
const BUSY_AFTER_MS = 2_000
/** A thread that is silent for longer should get no calls. */
export const UNREADY_AFTER_MS = 5_000

export interface OpsAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

export interface MainThread {
  /** ms since its last heartbeat. */
  readonly silentMs: number
  /** Delay of its last beat, ms. */
  readonly lagMs: number
}

/** Alive unless hung; the text says whether it is busy, which probes do not distinguish. */
export function answerHealth({ silentMs, lagMs }: MainThread, hungAfterMs: number): OpsAnswer {
  const status = silentMs >= hungAfterMs ? 'hung' : silentMs >= BUSY_AFTER_MS ? 'busy' : 'ok'
  return json(status === 'hung' ? 503 : 200, {
    status,
    main_thread: { silent_ms: Math.round(silentMs), lag_ms: lagMs },
  })
}

/** `fresh`: just reported. Otherwise the last report counts while the silence is short. */
export function answerReadiness(
  known: Known | undefined,
  { fresh, silentMs }: { readonly fresh: boolean; readonly silentMs: number },
): OpsAnswer {
  const status = known?.what === 'readiness' ? known.readiness : undefined
  if (!fresh && (silentMs >= UNREADY_AFTER_MS || status === undefined))
    return json(503, {
      status: 'not responding',
      last_status: status ?? null,
      silent_ms: Math.round(silentMs),
    })
  if (fresh) return json(status === 'ready' ? 200 : 503, { status: status ?? 'storage unavailable' })
  return json(status === 'ready' ? 200 : 503, { status, silent_ms: Math.round(silentMs) })
}

/** The last page received, and its age. */
export function answerMetrics(
  known: Known | undefined,
  { ageMs, main }: { readonly ageMs: number; readonly main: MainThread },
): OpsAnswer {
  if (known?.what === 'failed') return json(500, { status: 'metrics unavailable' })
  const page = known?.what === 'metrics' ? known : undefined
  const own = [
    gauge(
      'sluice_main_thread_silent_seconds',
      'How long ago the thread that serves calls was heard last.',
      main.silentMs / 1_000,
    ),
    gauge(
      'sluice_main_thread_lag_seconds',
      'How late the last beat of the thread that serves calls was.',
      main.lagMs / 1_000,
    ),
    gauge(
      'sluice_metrics_age_seconds',
      'How old the other figures of this page are; 0 unless the thread that serves calls did not answer.',
      ageMs / 1_000,
    ),
  ]
  return {
    status: 200,
    contentType: page?.contentType ?? 'text/plain; version=0.0.4; charset=utf-8',
    body: `${page?.text ?? ''}${page === undefined || page.text.endsWith('\n') ? '' : '\n'}${own.join('\n')}\n`,
  }
}

export function answerChains(known: Known | undefined): OpsAnswer {
  return known?.what === 'chains'
    ? json(200, { troubled: known.troubled })
    : json(503, { error: 'how the chains are is not known right now' })
}

function gauge(name: string, help: string, value: number): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}`
}

export const WAYS: Readonly<Record<string, Question | 'health'>> = {
  '/healthz': 'health',
  '/readyz': 'readiness',
  '/metrics': 'metrics',
  '/chains': 'chains',
}

export function json(status: number, body: Readonly<Record<string, unknown>>): OpsAnswer {
  return { status, contentType: 'application/json', body: JSON.stringify(body) }
}
