/** What the routes of the management API use. */
import type { MonthOf } from '../../core/calendar.ts'
import type { Catalogue } from '../../core/catalogue.ts'
import type { RunningFinding } from '../../core/running-finding.ts'
import type { Explanation, ExplainQuestion } from '../../pipeline/explain/explain.ts'
import type { Probe, ProbeTarget } from '../../pipeline/explain/probe.ts'
import type { Identity } from '../../management/identity/identity.ts'
import type { Cashier } from '../../management/top-up/cashier.ts'
import type { VendorPreset } from '../../management/admin/presets.ts'
import type { ClientAddress } from '../request-head.ts'
import type { Exports } from './answers/send-export.ts'
import type { CallerReader } from './access/caller.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { BodyBudget } from '../../pipeline/instance/body-budget.ts'
import type { KeyDirectory, KeyHolder } from '../../pipeline/instance/directory.ts'
import type { HealthBoard } from '../../pipeline/instance/chains/health-board.ts'
import type { Storage } from '../../storage/storage.ts'
import type { BlobStore } from '../../storage/stores/blobs.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import type { RegisteredRoute } from './route-types.ts'

/** What the management API uses of an instance: its data, and what it knows about chains. */
export interface InstanceOfApi {
  readonly storage: Storage
  readonly blobs: BlobStore
  readonly catalogue: () => Catalogue
  /** Reads the catalogue again at once, without waiting for its announcement. */
  readonly refreshCatalogue: () => Promise<void>
  /** Epoch ms. */
  readonly now: () => number
  readonly monthOf: MonthOf
  readonly telemetry: Telemetry
  readonly health: HealthBoard
  readonly bodyBudget: BodyBudget
  readonly directory: KeyDirectory
  /** A cheap call over one chain. Never rejects because of the upstream's answer. */
  readonly probe: (target: ProbeTarget) => Promise<Probe>
  /** What would happen to a call, without making it. */
  readonly explain: (question: ExplainQuestion) => Promise<Explanation>
  /** The key that webhook secrets are derived from. */
  readonly secretKey: Uint8Array
}

export interface ApiOptions extends InstanceOfApi {
  readonly identity: Identity
  readonly cashier: Cashier
  /** Vendors that can be added without describing them. */
  readonly presets: readonly VendorPreset[]
  /** Health checks of what this instance depends on. */
  readonly examine: () => Promise<readonly RunningFinding[]>
  readonly clientAddress: ClientAddress
  /** An address of a customer's URL to which posting is not allowed; undefined: none is known. */
  readonly closedAddress: (url: string) => Promise<string | undefined>
  /** The public address as clients see it; undefined: the host of the request. */
  readonly publicUrl: string | undefined
  /** Address of the console, if there is one and its address is known. */
  readonly consoleUrl: string | undefined
}

/** What the routes share. The caller is found by the functions of `CallerReader`, or by the key alone. */
export interface ApiContext extends ApiOptions, CallerReader {
  /** The caller's key; otherwise throws the 401 or 403 that applies. */
  requireKey(request: FastifyRequest): Promise<KeyHolder>
  /** Running exports. */
  readonly exports: Exports
  /** Every defined route, in order; the OpenAPI document and the authorisation matrix are made from it. */
  readonly routes: RegisteredRoute[]
}

export type Api = FastifyInstance
