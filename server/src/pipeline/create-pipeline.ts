/** Puts the parts of the pipeline together. */
import { type PipelineParts, type Pipeline } from './context.ts'
import { createKeyDirectory } from './instance/directory.ts'
import { createHealthBoard } from './instance/chains/health-board.ts'
import { createChainObservations, keepObservations } from './instance/chains/chain-observations.ts'
import { keepCatalogue } from './instance/catalogue-keeper.ts'
import { createPulse } from './instance/pulse.ts'
import { createPendingOperations, type PendingOperations } from './instance/pending/pending-operations.ts'
import { createTurnKeeper } from './instance/turn-keeper.ts'
import { createConversions } from './lanes/threads/conversions.ts'
import { createDrains } from './exchange/drains.ts'
import { keepBodyBlocks } from './instance/body-blocks.ts'
import { createBodyBudget } from './instance/body-budget.ts'
import { createMonthOf } from '../core/calendar.ts'
import { createModelFacts } from './instance/model-facts.ts'
import { createCountWindow } from './instance/count-window.ts'
import { createTermsReader } from '../core/pricing/read-terms.ts'
import { createRefusalBudget } from './instance/refusal-budget.ts'
import { createVideos } from './video/serve-videos.ts'
import type { CallId } from '../core/ids.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import type { ReservedCall } from './call.ts'
import type { Leg } from './attempt/leg.ts'
import type { MeterReading } from '../core/metering/meter.ts'
import { madeIn } from '../core/metering/quantities.ts'
import { healthWord } from '../core/routing/order.ts'

export async function createPipeline(parts: PipelineParts): Promise<Pipeline> {
  const { storage, telemetry } = parts
  const directory = createKeyDirectory(storage, parts.now)
  const health = createHealthBoard()
  const observations = createChainObservations(parts.now)
  const stopKeeping = await keepObservations(storage, observations, parts)
  const kept = await keepCatalogue(parts, { health, observations })
  const { catalogue, refreshCatalogue } = kept
  let draining = false

  const unsubscribe = storage.subscribe((change) => {
    directory.forget(change)
    if (change.kind === 'chain') health.reset(change.chainId)
  })
  const pulse = createPulse(parts.now)
  const pending = createPendingOperations({ storage, telemetry })
  const turns = createTurnKeeper(storage, telemetry)
  const conversions = createConversions(telemetry, parts.limits)
  showGauges(telemetry, { pending, conversions, health, catalogue, now: parts.now })

  const pipeline: Pipeline = {
    ...parts,
    directory,
    health,
    observations,
    pulse,
    pending,
    ...knowRunning(pending),
    ...rememberings(parts),
    videos: createVideos(parts.videoSettings, parts.now, () => pipeline),
    turns,
    conversions,
    catalogue,
    refreshCatalogue,
    ...progressNotes(parts),
    observeEnd: (row, deducted) => telemetry.metrics.callEnded(row, deducted),
    refuseWhenUnable() {
      refuseWhenUnable({ draining, pending })
    },
    drain() {
      draining = true
    },
    close() {
      unsubscribe()
      kept.stop()
      stopKeeping()
      pulse.stop()
      pipeline.bodyBlocks.stop()
      turns.close()
      conversions.close()
    },
  }
  return pipeline
}

/** State kept between calls that does no I/O. `bodyBlocks` has to be stopped. */
function rememberings({ limits }: PipelineParts) {
  return {
    drains: createDrains(),
    bodyBudget: createBodyBudget(limits.bytesInFlightMax),
    bodyBlocks: keepBodyBlocks(limits.bytesInFlightMax),
    monthOf: createMonthOf(),
    countWindow: createCountWindow(limits.countsPerMinuteMax),
    terms: createTermsReader(),
    models: createModelFacts(),
    mayLogRefusal: createRefusalBudget(),
  }
}

function progressNotes({
  storage,
  telemetry,
  now,
}: PipelineParts): Pick<Pipeline, 'progress' | 'onClientGone'> {
  return {
    progress(call, leg, reading) {
      const noted = storage.calls.progress({ ...progressOf(call, leg, reading), at: now() })
      telemetry.background.track(noted, 'record progress')
    },
    onClientGone(call, leg, reading) {
      const noted = storage.calls.progress({ ...progressOf(call, leg, reading), at: now(), left: true })
      telemetry.background.track(noted, 'note that a client has left')
    },
  }
}

function showGauges(telemetry: Telemetry, shown: Shown): void {
  showPending(telemetry, shown)
  showChains(telemetry, shown)
}

function refuseWhenUnable(state: { readonly draining: boolean; readonly pending: PendingOperations }): void {
  if (state.draining)
    throw new GatewayError(50301, { message: 'the gateway is shutting down', retryAfterMs: 1_000 })
  if (state.pending.isFull())
    throw new GatewayError(50301, {
      message: 'too many finished calls wait for the database',
      retryAfterMs: 5_000,
    })
}

function knowRunning(pending: PendingOperations): Pick<Pipeline, 'running' | 'isRunning'> {
  const running = new Set<CallId>()
  return { running, isRunning: (callId) => running.has(callId) || pending.has(callId) }
}

function progressOf(call: ReservedCall, { chain, model, byok }: Leg, reading: MeterReading) {
  return {
    callId: call.callId,
    chainId: chain.id,
    modelId: model.modelId,
    byok,
    credentialId: byok ? undefined : chain.credentialId,
    usageSource: reading.source,
    ...madeIn(reading),
  }
}

type Shown = Pick<Pipeline, 'conversions' | 'pending' | 'health' | 'catalogue' | 'now'>

/** Healthy chains are omitted, so that the page stays short. */
function showChains(
  { metrics }: Telemetry,
  { health, catalogue, now }: Omit<Shown, 'conversions' | 'pending'>,
): void {
  metrics.gauges({
    name: 'sluice_chain_trouble',
    help: 'Chains that are not healthy, by state and by the kind of their last error.',
    read: () =>
      [...catalogue().models.values()]
        .flatMap((model) => model.chains)
        .flatMap((chain) => {
          const seen = health.of(chain)
          const state = healthWord(seen, now())
          const labels = { chain: String(chain.id), state, kind: seen.lastError?.kind ?? 'none' }
          return state === 'healthy' ? [] : [{ labels, value: 1 }]
        }),
  })
}

function showPending(
  { metrics }: Telemetry,
  { conversions, pending }: Pick<Shown, 'conversions' | 'pending'>,
): void {
  metrics.gauge({
    name: 'sluice_conversions_waiting',
    help: 'Large bodies that wait for a conversion thread.',
    read: () => conversions.waiting,
  })
  metrics.gauge({
    name: 'sluice_pending_operations',
    help: 'Ends of calls that the database has not accepted yet; they are tried again.',
    read: () => pending.count(),
  })
  metrics.gauge({
    name: 'sluice_pending_operation_bytes',
    help: 'Size of those ends of calls, in bytes.',
    read: () => pending.bytes(),
  })
}
