/** The corridor's own parts put together: what every stage may use, and nothing else. */
import type { CallLogRow } from '../core/calls/log-row.ts'
import type { Catalogue } from '../core/catalogue.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import type { InstanceId } from '../core/ids.ts'
import type { MeterReading } from '../core/metering/meter.ts'
import { createTermsReader, type TermsReader } from '../core/pricing/read-terms.ts'
import type { BlobStore } from '../storage/blobs.ts'
import type { Announcement, Storage } from '../storage/storage.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { RemoteAnswer, RemoteOptions } from '../upstream/fetch-remote.ts'
import type { StreamedRemote, StreamOptions } from '../upstream/stream-remote.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { Leg } from './attempt.ts'
import { type BodyBudget, createBodyBudget } from './body-budget.ts'
import type { LoggedCall, ReservedCall } from './call.ts'
import { createKeyDirectory, type KeyDirectory } from './directory.ts'
import { createHealthBoard, type HealthBoard } from './health-board.ts'
import { createMonthOf, type MonthOf } from './month.ts'
import { createLostReservations, type LostReservations } from './lost-reservations.ts'
import { createPulse, type Pulse } from './pulse.ts'
import { createRefusalBudget } from './refusal-budget.ts'
import type { TokenCounter } from './token-counter.ts'
import { createVideos, type VideoSettings, type Videos } from './video/videos.ts'
import { createTurnKeeper, type TurnKeeper } from './turn-keeper.ts'

export interface GatewayLimits {
  readonly bodyLimitBytes: number
  readonly bytesInFlightMax: number
  /** All attempts together, until the answer begins. */
  readonly answerDeadlineMs: number
}

export interface GatewayParts {
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

export interface Gateway extends GatewayParts {
  readonly directory: KeyDirectory
  readonly health: HealthBoard
  readonly bodyBudget: BodyBudget
  readonly pulse: Pulse
  readonly lostReservations: LostReservations
  readonly monthOf: MonthOf
  readonly terms: TermsReader
  readonly videos: Videos
  readonly turns: TurnKeeper
  /** The catalogue as it stands now; a call keeps the one it was admitted with. */
  catalogue(): Catalogue
  /** Reads the catalogue again at once, without waiting for its announcement. */
  refreshCatalogue(): Promise<void>
  /** Records where a running call stands, so that a crash loses at most a second of it. */
  progress(call: ReservedCall, leg: Leg, reading: MeterReading): void
  observeEnd(row: CallLogRow): void
  /** False for the excess of calls nobody can be charged for: they are counted, not stored one by one. */
  mayLogRefusal(call: LoggedCall, at: number): boolean
  refuseWhenDraining(): void
  /** Refuses new calls from now on. */
  drain(): void
  close(): void
}

export async function createGateway(parts: GatewayParts): Promise<Gateway> {
  const { storage, telemetry } = parts
  const directory = createKeyDirectory(storage, parts.now)
  const health = createHealthBoard()
  let catalogue = await storage.catalogue.read()
  let draining = false

  const refreshCatalogue = async (): Promise<void> => {
    catalogue = await storage.catalogue.read()
    health.keepOnly(
      new Set([...catalogue.models.values()].flatMap((model) => model.chains.map((chain) => chain.id))),
    )
  }
  const onChange = (change: Announcement): void => {
    directory.forget(change)
    if (change.kind === 'chain') health.reset(change.chainId)
    if (change.kind === 'catalogue' || change.kind === 'everything')
      telemetry.background.track(refreshCatalogue(), 'refresh catalogue')
  }
  const unsubscribe = storage.subscribe(onChange)
  const pulse = createPulse(parts.now)
  const lostReservations = createLostReservations(storage, telemetry)
  const turns = createTurnKeeper(storage, telemetry)

  return {
    ...parts,
    directory,
    health,
    pulse,
    lostReservations,
    bodyBudget: createBodyBudget(parts.limits.bytesInFlightMax),
    monthOf: createMonthOf(),
    terms: createTermsReader(),
    videos: createVideos(parts.videoSettings, parts.now),
    turns,
    catalogue: () => catalogue,
    refreshCatalogue,
    progress(call, leg, reading) {
      const operation = {
        callId: call.callId,
        at: parts.now(),
        chainId: leg.chain.id,
        modelId: leg.model.modelId,
        byok: leg.byok,
        credentialId: leg.byok ? undefined : leg.chain.credentialId,
        usage: reading.usage,
        usageSource: reading.source,
        images: reading.images,
      }
      telemetry.background.track(storage.calls.progress(operation), 'record progress')
    },
    observeEnd: (row) => telemetry.metrics.callEnded(row),
    mayLogRefusal: createRefusalBudget(),
    refuseWhenDraining() {
      if (draining)
        throw new GatewayError(50301, { message: 'the gateway is shutting down', retryAfterMs: 1_000 })
    },
    drain() {
      draining = true
    },
    close() {
      unsubscribe()
      pulse.stop()
      lostReservations.stop()
      turns.close()
    },
  }
}
