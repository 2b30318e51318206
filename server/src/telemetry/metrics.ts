import type { CallLogRow } from '../core/ledger/log-row.ts'
import type { Usage } from '../core/canonical/usage.ts'
import type { ChainId } from '../core/ids.ts'
import type { MicroCredits } from '../core/money.ts'
import { METRICS_CONTENT_TYPE, readProcessMetrics } from './process-metrics.ts'
import {
  CounterTally,
  GaugeFamily,
  type GaugeFamilySettings,
  GaugeReading,
  HistogramTally,
  type Tally,
} from './tally.ts'

/** The numbers behind `/metrics`. Every method costs a few map look-ups; text is made only in `render`. */
export interface Metrics {
  /** A call has ended, or was refused: its log row, as it is written. */
  /** @param deducted what the storage has deducted; absent: the row says it */
  callEnded(row: CallLogRow, deducted?: MicroCredits): void
  /** One chain was tried. `outcome` is one of the gateway's own words, never an upstream's. */
  attemptEnded(attempt: { readonly chain: ChainId; readonly outcome: string }): void
  /** A security event; `event` is a name of `security-log.ts`. */
  securityEvent(event: string): void
  /** A vendor was polled for a video task. `outcome` is one of the gateway's own words. */
  videoPolled(poll: { readonly vendor: string; readonly outcome: string }): void
  /** The first byte of an answer was sent to the client, `ms` after the call began. */
  firstByte(answer: { readonly protocol: string; readonly ms: number }): void
  /** A reservation was taken and is open; `held` counts as held until `callReleased` is called with the same amount. */
  callReserved(held: MicroCredits): void
  callReleased(held: MicroCredits): void
  /**
   * Adds a value that is read when metrics are rendered, such as the length of a queue. The name starts with `sluice_`.
   */
  gauge(reading: { readonly name: string; readonly help: string; readonly read: () => number }): void
  /** The same for several things, distinguished by labels; only those returned are shown. */
  gauges(family: GaugeFamilySettings): void
  /** Everything in Prometheus text form. */
  render(): Promise<string>
  readonly contentType: string
}

/** Seconds. From a refusal (a millisecond) to a long reasoning stream (ten minutes). */
const DURATION_BOUNDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
]
const MS_PER_SECOND = 1_000
const MICRO_CREDITS_PER_CREDIT = 1_000_000
const TOKEN_CLASSES = [
  'input',
  'cachedInput',
  'cacheWrite',
  'cacheWrite1h',
  'output',
] as const satisfies readonly (keyof Usage)[]
/** What a client asked for is unbounded, so calls that reached no model share one value. */
const NONE = 'none'

export function createMetrics(settings: { readonly version: string }): Metrics {
  const open = { calls: 0, held: 0n }
  const counted = openTallies(settings.version)
  const gauges: Tally[] = [
    new GaugeReading({
      name: 'sluice_open_calls',
      help: 'Calls that hold a reservation.',
      read: () => open.calls,
    }),
    new GaugeReading({
      name: 'sluice_held_credits',
      help: 'Credits held for open calls of this process.',
      read: () => Number(open.held) / MICRO_CREDITS_PER_CREDIT,
    }),
  ]
  return {
    callEnded: (row, deducted) => countCall(counted, row, deducted),
    attemptEnded: ({ chain, outcome }) => counted.attempts.add({ chain: String(chain), outcome }, 1),
    securityEvent: (event) => counted.securityEvents.add({ event }, 1),
    videoPolled: ({ vendor, outcome }) => counted.videoPolls.add({ vendor, outcome }, 1),
    firstByte: ({ protocol, ms }) => counted.firstBytes.observe({ protocol }, ms / MS_PER_SECOND),
    callReserved(held) {
      open.calls += 1
      open.held += held
    },
    callReleased(held) {
      open.calls -= 1
      open.held -= held
    },
    gauge(reading) {
      gauges.push(new GaugeReading(reading))
    },
    gauges(family) {
      gauges.push(new GaugeFamily(family))
    },
    async render() {
      const own = [...Object.values(counted), ...gauges].map((tally) => tally.render())
      return `${own.join('\n')}\n${await readProcessMetrics()}`
    },
    contentType: METRICS_CONTENT_TYPE,
  }
}

function countCall(counted: Tallies, row: CallLogRow, deducted: MicroCredits = row.deducted): void {
  const model = row.model ?? NONE
  const protocol = row.clientProtocol
  const code = String(row.code ?? row.httpStatus)
  counted.calls.add({ model, chain: String(row.chainId ?? NONE), protocol, code }, 1)
  counted.durations.observe({ model, protocol }, row.durationMs / MS_PER_SECOND)
  for (const name of TOKEN_CLASSES) {
    const count = row.usage[name]
    if (count !== undefined && count > 0) counted.tokens.add({ model, class: name }, count)
  }
  if (row.amount > 0n) counted.credits.add({ model, kind: 'amount' }, creditsOf(row.amount))
  if (deducted > 0n) counted.credits.add({ model, kind: 'deducted' }, creditsOf(deducted))
  if (row.usageSuspect !== undefined) counted.suspects.add({ chain: String(row.chainId ?? NONE) }, 1)
  for (const { why, modelId } of row.attempts) {
    if (why === 'failover' || why === 'fallback' || why === 'retry') {
      counted.failovers.add({ model: modelId, why }, 1)
    }
  }
}

const creditsOf = (amount: MicroCredits): number => Number(amount) / MICRO_CREDITS_PER_CREDIT

type Tallies = ReturnType<typeof openTallies>

function openTallies(version: string) {
  const starts = new CounterTally({
    name: 'sluice_starts_total',
    help: 'Starts of this process, by version.',
    labels: ['version'],
  })
  starts.add({ version }, 1)
  return {
    starts,
    calls: new CounterTally({
      name: 'sluice_calls_total',
      help: 'Calls that ended, by platform model used, chain, client protocol and code (gateway code, else HTTP status).',
      labels: ['model', 'chain', 'protocol', 'code'],
    }),
    durations: new HistogramTally({
      name: 'sluice_call_duration_seconds',
      help: 'From the first header of the call to its end.',
      labels: ['model', 'protocol'],
      bounds: DURATION_BOUNDS,
    }),
    firstBytes: new HistogramTally({
      name: 'sluice_first_byte_seconds',
      help: 'From the first header of the call to the first byte of the answer.',
      labels: ['protocol'],
      bounds: DURATION_BOUNDS,
    }),
    tokens: new CounterTally({
      name: 'sluice_tokens_total',
      help: 'Tokens of ended calls, by platform model and billing class.',
      labels: ['model', 'class'],
    }),
    credits: new CounterTally({
      name: 'sluice_credits_total',
      help: 'Credits of ended calls: the exact amount by the price, and what was deducted of it.',
      labels: ['model', 'kind'],
    }),
    suspects: openSuspects(),
    attempts: new CounterTally({
      name: 'sluice_attempts_total',
      help: 'Upstream attempts, by chain and outcome.',
      labels: ['chain', 'outcome'],
    }),
    videoPolls: openVideoPolls(),
    securityEvents: new CounterTally({
      name: 'sluice_security_events_total',
      help: 'Security events, by name.',
      labels: ['event'],
    }),
    failovers: new CounterTally({
      name: 'sluice_failovers_total',
      help: 'Attempts on another chain or model after a failure, by platform model tried and reason.',
      labels: ['model', 'why'],
    }),
  }
}

function openSuspects(): CounterTally<'chain'> {
  return new CounterTally({
    name: 'sluice_usage_suspect_total',
    help: 'Calls whose upstream reported impossible usage, charged at the most that is possible, by chain.',
    labels: ['chain'],
  })
}

function openVideoPolls(): CounterTally<'vendor' | 'outcome'> {
  return new CounterTally({
    name: 'sluice_video_polls_total',
    help: 'Polls of vendors about video tasks, by vendor and outcome.',
    labels: ['vendor', 'outcome'],
  })
}
