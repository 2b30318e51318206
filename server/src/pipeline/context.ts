/** The pipeline's own parts put together: what every stage may use, and nothing else. */
import { createMonthOf, type MonthOf } from '../core/calendar-month.ts'
import type { CallLogRow } from '../core/calls/log-row.ts'
import type { Catalogue } from '../core/catalogue.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import type { CallId, ChainId, InstanceId } from '../core/ids.ts'
import type { MeterReading } from '../core/metering/meter.ts'
import type { BodyBounds } from '../core/passthrough/requests/request-scan.ts'
import { healthWord } from '../core/routing/standing.ts'
import { createTermsReader, type TermsReader } from '../core/pricing/read-terms.ts'
import type { BlobStore } from '../storage/stores/blobs.ts'
import type { Announcement, Storage } from '../storage/storage.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { RemoteAnswer, RemoteOptions } from '../upstream/remote/fetch-remote.ts'
import type { StreamedRemote, StreamOptions } from '../upstream/remote/stream-remote.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { Leg } from './attempt/attempt.ts'
import { type BodyBudget, createBodyBudget } from './instance/body-budget.ts'
import type { LoggedCall, ReservedCall } from './call.ts'
import { type ChainObservations, createChainObservations } from './instance/chain-observations.ts'
import { type Conversions, createConversions } from './lanes/threads/conversions.ts'
import { type CountWindow, createCountWindow } from './instance/count-window.ts'
import { createKeyDirectory, type KeyDirectory } from './instance/directory.ts'
import { createHealthBoard, type HealthBoard } from './instance/health-board.ts'
import { keepObservations } from './instance/keep-observations.ts'
import { createPendingOperations, type PendingOperations } from './instance/pending-operations.ts'
import { createPulse, type Pulse } from './instance/pulse.ts'
import { createReadOn, type ReadOn } from './exchange/read-on.ts'
import { createRefusalBudget } from './instance/refusal-budget.ts'
import type { TokenCounter } from './instance/token-counter.ts'
import { createVideos, type VideoSettings, type Videos } from './video/videos.ts'
import { createTurnKeeper, type TurnKeeper } from './instance/turn-keeper.ts'

export interface GatewayLimits extends BodyBounds {
  readonly bodyLimitBytes: number
  readonly bytesInFlightMax: number
  /** All attempts together, until the answer begins. */
  readonly answerDeadlineMs: number
  /** Counts of tokens an account may ask for. */
  readonly countsPerMinuteMax: number
}

export interface PipelineParts {
  readonly storage: Storage
  readonly blobs: BlobStore
  readonly upstream: Upstream
  /** Fetches what clients name by address, within what the operator allows (`SLUICE_FETCH_ALLOW`). */
  readonly fetchRemote: (url: string, options: Omit<RemoteOptions, 'allow'>) => Promise<RemoteAnswer>
  /** Streams what a provider's link leads to, within the same bounds. */
  readonly streamRemote: (url: string, options: Omit<StreamOptions, 'allow'>) => Promise<StreamedRemote>
  readonly videoSettings: VideoSettings
  readonly telemetry: Telemetry
  readonly tokens: TokenCounter
  readonly instanceId: InstanceId
  readonly limits: GatewayLimits
  /** Epoch ms. */
  readonly now: () => number
  /** A number in [0, 1). */
  readonly draw: () => number
}

export interface Pipeline extends PipelineParts {
  readonly directory: KeyDirectory
  readonly health: HealthBoard
  readonly observations: ChainObservations
  readonly bodyBudget: BodyBudget
  readonly readOn: ReadOn
  readonly pulse: Pulse
  /** Ends of calls that the store still has to take. */
  readonly pending: PendingOperations
  readonly monthOf: MonthOf
  readonly countWindow: CountWindow
  readonly terms: TermsReader
  readonly videos: Videos
  readonly turns: TurnKeeper
  /** Large bodies are taken apart in threads. */
  readonly conversions: Conversions
  /** The catalogue as it stands now; a call keeps the one it was admitted with. */
  catalogue(): Catalogue
  /** Reads the catalogue again at once, without waiting for its announcement. */
  refreshCatalogue(): Promise<void>
  /** Records where a running call stands, so that a crash loses at most a second of it. */
  progress(call: ReservedCall, leg: Leg, reading: MeterReading): void
  /** The same when its client has left, which frees its concurrency slots. */
  clientLeft(call: ReservedCall, leg: Leg, reading: MeterReading): void
  observeEnd(row: CallLogRow): void
  /** Calls that are on their way through this process, whatever they have reached. */
  readonly running: Set<CallId>
  /** It is on its way, or its end has still to be written. */
  isRunning(callId: CallId): boolean
  /** False for the excess of calls nobody can be charged for: they are counted, not stored one by one. */
  mayLogRefusal(call: LoggedCall, at: number): boolean
  /** Throws 50301 while no call may begin: this process stops, or too many ends of calls wait for the store. */
  refuseWhenUnable(): void
  /** Refuses new calls from now on. */
  drain(): void
  close(): void
}

export async function createPipeline(parts: PipelineParts): Promise<Pipeline> {
  const { storage, telemetry } = parts
  const directory = createKeyDirectory(storage, parts.now)
  const health = createHealthBoard()
  const observations = createChainObservations(parts.now)
  const stopKeeping = await keepObservations(storage, observations, parts)
  let catalogue = await storage.catalogue.read()
  let draining = false

  const refreshCatalogue = async (): Promise<void> => {
    catalogue = await storage.catalogue.read()
    const ids = chainIdsOf(catalogue)
    health.keepOnly(ids)
    observations.keepOnly(ids)
  }
  const onChange = (change: Announcement): void => {
    directory.forget(change)
    if (change.kind === 'chain') health.reset(change.chainId)
    if (change.kind === 'catalogue' || change.kind === 'everything')
      telemetry.background.track(refreshCatalogue(), 'refresh catalogue')
  }
  const unsubscribe = storage.subscribe(onChange)
  const pulse = createPulse(parts.now)
  const pending = createPendingOperations({ storage, telemetry })
  showGauges(telemetry, { pending, health, catalogue: () => catalogue, now: parts.now })
  const turns = createTurnKeeper(storage, telemetry)
  const conversions = createConversions(telemetry, parts.limits)
  telemetry.metrics.gauge({
    name: 'sluice_conversions_waiting',
    help: 'Large bodies that wait for a thread to be converted in.',
    read: () => conversions.waiting,
  })

  return {
    ...parts,
    directory,
    health,
    observations,
    pulse,
    pending,
    ...knowRunning(pending),
    readOn: createReadOn(),
    bodyBudget: createBodyBudget(parts.limits.bytesInFlightMax),
    monthOf: createMonthOf(),
    countWindow: createCountWindow(parts.limits.countsPerMinuteMax),
    terms: createTermsReader(),
    videos: createVideos(parts.videoSettings, parts.now),
    turns,
    conversions,
    catalogue: () => catalogue,
    refreshCatalogue,
    ...progressNotes(parts),
    observeEnd: (row) => telemetry.metrics.callEnded(row),
    mayLogRefusal: createRefusalBudget(),
    refuseWhenUnable() {
      refuseWhenUnable({ draining, pending })
    },
    drain() {
      draining = true
    },
    close() {
      unsubscribe()
      stopKeeping()
      pulse.stop()
      turns.close()
      conversions.close()
    },
  }
}

function chainIdsOf({ models }: Catalogue): ReadonlySet<ChainId> {
  return new Set([...models.values()].flatMap((model) => model.chains.map((chain) => chain.id)))
}

function progressNotes({
  storage,
  telemetry,
  now,
}: PipelineParts): Pick<Pipeline, 'progress' | 'clientLeft'> {
  return {
    progress(call, leg, reading) {
      const noted = storage.calls.progress({ ...progressOf(call, leg, reading), at: now() })
      telemetry.background.track(noted, 'record progress')
    },
    clientLeft(call, leg, reading) {
      const noted = storage.calls.progress({ ...progressOf(call, leg, reading), at: now(), left: true })
      telemetry.background.track(noted, 'note that a client has left')
    },
  }
}

function progressOf(call: ReservedCall, { chain, model, byok }: Leg, reading: MeterReading) {
  return {
    callId: call.callId,
    chainId: chain.id,
    modelId: model.modelId,
    byok,
    credentialId: byok ? undefined : chain.credentialId,
    usage: reading.usage,
    usageSource: reading.source,
    images: reading.images,
  }
}

type Shown = Pick<Pipeline, 'pending' | 'health' | 'catalogue' | 'now'>

function showGauges(telemetry: Telemetry, shown: Shown): void {
  showPending(telemetry, shown.pending)
  showChains(telemetry, shown)
}

/** Chains that are well are not shown, so that the page stays short. */
function showChains({ metrics }: Telemetry, { health, catalogue, now }: Omit<Shown, 'pending'>): void {
  metrics.gauges({
    name: 'sluice_chain_trouble',
    help: 'Chains that are not healthy, by how they are and the kind of their last error.',
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

function showPending({ metrics }: Telemetry, pending: PendingOperations): void {
  metrics.gauge({
    name: 'sluice_pending_operations',
    help: 'Ends of calls that the database could not take yet; they are tried again.',
    read: () => pending.count(),
  })
  metrics.gauge({
    name: 'sluice_pending_operation_bytes',
    help: 'Size of those, as text.',
    read: () => pending.bytes(),
  })
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
