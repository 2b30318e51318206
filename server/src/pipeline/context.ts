/** The parts of the pipeline together: everything that stages may use. */
import type { MicroCredits } from '../core/money.ts'
import { type MonthOf } from '../core/calendar.ts'
import type { CallLogRow } from '../core/ledger/log-row.ts'
import type { Catalogue } from '../core/catalogue.ts'
import type { CallId, InstanceId } from '../core/ids.ts'
import type { MeterReading } from '../core/metering/meter.ts'
import type { BodyBounds } from '../core/passthrough/requests/request-scan.ts'
import { type TermsReader } from '../core/pricing/read-terms.ts'
import type { BlobStore } from '../storage/stores/blobs.ts'
import type { Storage } from '../storage/storage.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { RemoteAnswer, RemoteOptions } from '../upstream/remote/fetch-remote.ts'
import type { StreamedRemote, StreamOptions } from '../upstream/remote/stream-remote.ts'
import type { Upstream, UpstreamCall, UpstreamExchange, UpstreamSink } from '../upstream/upstream.ts'
import type { BodyBlocks } from './instance/body-blocks.ts'
import { type BodyBudget } from './instance/body-budget.ts'
import type { BodyFiles } from './instance/body-files.ts'
import type { LoggedCall, ReservedCall } from './call.ts'
import { type ChainObservations } from './instance/chains/chain-observations.ts'
import { type Conversions } from './lanes/threads/conversions.ts'
import { type CountWindow } from './instance/count-window.ts'
import { type KeyDirectory } from './instance/directory.ts'
import { type HealthBoard } from './instance/chains/health-board.ts'
import { type PendingOperations } from './instance/pending/pending-operations.ts'
import { type Pulse } from './instance/pulse.ts'
import { type Drains } from './exchange/drains.ts'
import type { ModelFacts } from './instance/model-facts.ts'
import type { TokenCounter } from './instance/token-counter.ts'
import { type VideoSettings, type Videos } from './video/videos.ts'
import { type TurnKeeper } from './instance/turn-keeper.ts'
import type { Leg } from './attempt/leg.ts'

export interface GatewayLimits extends BodyBounds {
  readonly bodyLimitBytes: number
  readonly bytesInFlightMax: number
  /** All attempts together, until the answer begins. */
  readonly answerDeadlineMs: number
  /** Token counts an account may request per minute. */
  readonly countsPerMinuteMax: number
}

export interface PipelineParts {
  readonly storage: Storage
  readonly blobs: BlobStore
  /** Storage for bodies that are too large for memory. */
  readonly bodyFiles: BodyFiles
  readonly upstream: Upstream
  /** Fetches what clients name by address, within what the operator allows (`SLUICE_FETCH_ALLOW`). */
  readonly fetchRemote: (url: string, options: Omit<RemoteOptions, 'allow'>) => Promise<RemoteAnswer>
  /** Streams from a provider's link, within the same limits. */
  readonly streamRemote: (url: string, options: Omit<StreamOptions, 'allow'>) => Promise<StreamedRemote>
  /** Calls an address that a vendor named, within the same bounds. `trustedHost`: may be private all the same. */
  readonly openRemote: (
    call: UpstreamCall,
    sink: UpstreamSink,
    options: { readonly trustedHost: string | undefined },
  ) => UpstreamExchange
  readonly videoSettings: VideoSettings
  /** Factor for the pauses between polls of a task that a client waits for: 1, and less in tests. */
  readonly pollPace: number
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
  readonly bodyBlocks: BodyBlocks
  readonly drains: Drains
  readonly pulse: Pulse
  /** Ends of calls that the store has not recorded yet. */
  readonly pending: PendingOperations
  readonly monthOf: MonthOf
  readonly countWindow: CountWindow
  readonly terms: TermsReader
  readonly models: ModelFacts
  readonly videos: Videos
  readonly turns: TurnKeeper
  /** Large bodies are parsed in threads. */
  readonly conversions: Conversions
  /** The present catalogue; a call keeps the one it was admitted with. */
  catalogue(): Catalogue
  /** Reads the catalogue again at once, without waiting for its announcement. */
  refreshCatalogue(): Promise<void>
  /** Records the usage of a running call, so that a crash loses at most a second of it. */
  progress(call: ReservedCall, leg: Leg, reading: MeterReading): void
  /** The same when its client has disconnected, which frees its concurrency slots. */
  onClientGone(call: ReservedCall, leg: Leg, reading: MeterReading): void
  /** @param deducted what the storage has deducted; absent: the row says it */
  observeEnd(row: CallLogRow, deducted?: MicroCredits): void
  /** Calls in progress in this process, at any stage. */
  readonly running: Set<CallId>
  /** It is in progress, or its end is still to be stored. */
  isRunning(callId: CallId): boolean
  /** False for excess calls that cannot be charged to anyone: they are counted, not stored one by one. */
  mayLogRefusal(call: LoggedCall, at: number): boolean
  /** Throws 50301 while no call may begin: this process is stopping, or too many ends of calls wait for the store. */
  refuseWhenUnable(): void
  /** Refuses new calls from now on. */
  drain(): void
  close(): void
}
