/** The gateway's health: its dependencies, its instances, its traffic, and what needs an operator's decision. */
import * as z from 'zod'
import { FINDING_CODES, RUNNING_CHECKS, type RunningFinding } from '../../../../core/running-finding.ts'
import { readTraffic } from '../../../../management/admin/traffic.ts'
import type { Storage } from '../../../../storage/storage.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'
import { isoTime } from '../../answers/wire-values.ts'
import type { ApiContext, Api } from '../../api-context.ts'

export type HealthContext = RouteContext & Pick<ApiContext, 'examine' | 'now' | 'storage'>

/** Four heartbeats, after which another instance takes over. */
const SILENT_MS = 20_000
/** Instances silent for a day are not shown. */
const FORGOTTEN_MS = 86_400_000
/** Enough for one look at the list. */
const WAITING_MAX = 100
const count = z.number().int().min(0)

const findingShape = z.strictObject({
  check: z.enum(RUNNING_CHECKS),
  state: z.enum(['ok', 'warning', 'failed', 'skipped']),
  code: z.enum(FINDING_CODES).meta({ description: 'Identifies the finding, for texts in other languages.' }),
  parameters: z.record(z.string(), z.union([z.string(), z.number()])).meta({
    description: 'Values for the placeholders in the texts of this code, by name.',
  }),
  found: z.string().meta({ description: 'In English.' }),
  fix: z.string().nullable().meta({ description: 'What to do, in English; null: nothing.' }),
})

const instanceShape = z.strictObject({
  id: z.string(),
  beat_at: isoTime,
  epoch: count,
  state: z.enum(['running', 'silent', 'gone']),
  has_calls: z.boolean().meta({ description: 'Whether it has open calls.' }),
})

const rate = z.number().min(0)
const healthShape = z.strictObject({
  at: isoTime,
  traffic: z.strictObject({
    seconds: rate.meta({
      description: 'Over which these are: the last minute, or less where more calls ended.',
    }),
    calls: count,
    failed: count,
    calls_per_second: rate,
    output_tokens_per_second: rate,
    first_byte_ms_median: rate.nullable(),
    first_byte_ms_p95: rate.nullable(),
  }),
  instances: z.array(instanceShape),
  waiting: z.strictObject({ verifications: count, top_ups: count, suspect_calls: count }).meta({
    description: `What waits for somebody, each counted up to ${WAITING_MAX}. suspect_calls: of the last day.`,
  }),
})

export function adminHealthRoutes(app: Api, context: HealthContext): void {
  liveRoute(app, context)
  findingsRoute(app, context)
}

function liveRoute(app: Api, context: HealthContext): void {
  const { storage, now } = context
  defineRoute(app, context, {
    method: 'GET',
    path: '/api/v1/admin/health',
    access: 'admin',
    tag: 'Admin: health',
    summary: 'Read current throughput, the instances, and what is waiting',
    description: 'Of every instance: the numbers come from the log, which all of them write.',
    caching: 'none',
    data: healthShape,
    handle: async () => {
      const at = now()
      const [traffic, instances, waiting] = await Promise.all([
        readTraffic(storage, at),
        readInstances(storage, at),
        readWaiting(storage, at),
      ])
      return { at: new Date(at).toISOString(), traffic, instances, waiting }
    },
  })
}

function findingsRoute(app: Api, context: HealthContext): void {
  defineRoute(app, context, {
    method: 'GET',
    path: '/api/v1/admin/findings',
    access: 'admin',
    tag: 'Admin: health',
    summary: 'Check everything that this instance depends on',
    description:
      'What `sluice doctor` finds in a running gateway, at most a minute old. No model is called: credentials have a separate test.',
    data: z.array(findingShape),
    handle: async () => (await context.examine()).map(viewFinding),
  })
}

function viewFinding({ fix, ...finding }: RunningFinding): z.output<typeof findingShape> {
  return { ...finding, fix: fix ?? null }
}

async function readInstances(
  { calls }: Pick<Storage, 'calls'>,
  at: number,
): Promise<readonly z.output<typeof instanceShape>[]> {
  const seen = await calls.readInstances()
  return seen
    .filter(({ beatAt, hasCalls }) => hasCalls || at - beatAt < FORGOTTEN_MS)
    .toSorted((one, other) => other.beatAt - one.beatAt)
    .map(({ id, epoch = 0, beatAt, gone, hasCalls }) => ({
      id,
      beat_at: new Date(beatAt).toISOString(),
      epoch,
      state: gone ? 'gone' : at - beatAt < SILENT_MS ? 'running' : 'silent',
      has_calls: hasCalls,
    }))
}

async function readWaiting(
  { customers, topUps, logs }: Pick<Storage, 'customers' | 'topUps' | 'logs'>,
  at: number,
): Promise<z.output<typeof healthShape>['waiting']> {
  const limit = WAITING_MAX
  const [verifications, reviews, suspects] = await Promise.all([
    customers.verifications.list({ limit, after: undefined, status: 'pending' }),
    topUps.payments.list({ status: 'review' }, { limit, after: undefined }),
    logs.page({ from: at - FORGOTTEN_MS, suspect: true }, { limit, cursor: undefined, bulk: true }),
  ])
  return {
    verifications: verifications.length,
    top_ups: reviews.length,
    suspect_calls: suspects.rows.length,
  }
}
