/** Puts the gateway together: configuration in, a running gateway out. */
import { setTimeout as delay } from 'node:timers/promises'
import { type DataDirectory, openDataDirectory, removeSecretKey } from '../config/data-directory.ts'
import type { Config, Environment } from '../config/environment.ts'
import { DAY_MS, MINUTE_MS } from '../core/durations.ts'
import { type InstanceId, instanceId } from '../core/ids.ts'
import type { Pipeline, PipelineParts } from '../pipeline/context.ts'
import { createTokenCounter } from '../pipeline/instance/token-counter.ts'
import { createBodyFiles } from '../pipeline/instance/body-files.ts'
import { openUnsettledFiles, type UnsettledFiles } from '../pipeline/instance/pending/unsettled-files.ts'
import { startVideos } from '../pipeline/video/serve-videos.ts'
import { runningExaminer } from './doctor/examine-running.ts'
import { knownPresets } from './presets.ts'
import {
  every,
  type Housekeeping,
  type InstancePeriods,
  keepPrices,
  startHousekeeping,
} from './rounds/housekeeping.ts'
import { createClientAddress, createIsProxy } from '../http/request-head.ts'
import { type ConsolePages, openConsolePages } from '../http/console/console-pages.ts'
import { explain } from '../pipeline/explain/explain.ts'
import { probeChain } from '../pipeline/explain/probe.ts'
import { openOpsServer, type OpsServer } from '../http/ops/ops-server.ts'
import { gatewayOps, type OpsSource } from '../http/ops/ops-source.ts'
import { openServers, type Servers } from '../http/servers.ts'
import type { ManagementApi } from '../http/management/api.ts'
import type { ApiOptions, InstanceOfApi } from '../http/management/api-context.ts'
import type { Identity } from '../management/identity/identity.ts'
import type { Cashier } from '../management/top-up/cashier.ts'
import { timeOrderedId } from '../management/new-id.ts'
import { keepCustomerRounds } from './rounds/customer-rounds.ts'
import { openCashier } from './open-cashier.ts'
import { loadWhenQuiet } from './load-when-quiet.ts'
import { noteAudit, noteForbidden } from './note-security.ts'
import { openIdentity } from './open-identity.ts'
import { keepPayments } from './rounds/payment-rounds.ts'
import { type BlobStore, PING_PATIENCE_MS } from '../storage/stores/blobs.ts'
import { openStorage, type RunsCalls } from '../storage/open.ts'
import { openBlobs } from '../storage/open-blobs.ts'
import { SecretKeyMismatch } from '../storage/failures/secret-key-mismatch.ts'
import type { Storage } from '../storage/storage.ts'
import { createTelemetry, type Telemetry } from '../telemetry/telemetry.ts'
import { fetchRemote } from '../upstream/remote/fetch-remote.ts'
import { closedAddress } from '../upstream/remote/post-remote.ts'
import { createFindProxy } from '../upstream/connect/find-proxy.ts'
import { AllowList } from '../upstream/connect/guard.ts'
import { openUpstream } from '../upstream/send.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { streamRemote } from '../upstream/remote/stream-remote.ts'
import { VERSION } from '../version.ts'
import { createPipeline } from '../pipeline/create-pipeline.ts'
import { openRemote } from '../upstream/remote/open-remote.ts'

const UNSETTLED_EVERY_MS = MINUTE_MS

export interface RunningGateway {
  /** The address for clients on this machine, without a trailing slash. */
  readonly baseUrl: string
  readonly gatewayBaseUrl: string
  /** undefined: another process has the operator's port. */
  readonly opsUrl: string | undefined
  readonly ops: OpsSource
  readonly pipeline: Pipeline
  /** Builds the management API before its first request would; calls are served already. */
  readonly loadApi: () => void
  /** Calls that have not ended yet. */
  openCalls(): number
  /** Refuses new calls, lets running ones end within the configured time, settles all, closes. */
  stop(): Promise<void>
}

/** What happens between an open store and the first listener: first-run set-up, gateway file. */
export type Prepare = (opened: {
  readonly storage: Storage
  readonly telemetry: Telemetry
  readonly now: () => number
}) => Promise<void>

export interface StartOptions {
  /** Set by tests: the clock, and how long vendors' advice makes polls wait. */
  readonly timing?: {
    readonly now: () => number
    readonly pollPace: number
    readonly periods?: InstancePeriods
  }
  /** False if several processes serve and the first of them has the operator's port. */
  readonly ops: boolean
  /** The environment with vendors' keys; absent: the process's own. */
  readonly environment?: Environment
  /** Called once when the storage no longer answers: the process has to be restarted. */
  readonly onStorageHung?: () => void
}

export async function startGateway(
  config: Config,
  prepare: Prepare,
  options: StartOptions = { ops: true },
): Promise<RunningGateway> {
  const ground = await openGround(config, prepare, options)
  const upstream = openUpstream({ findProxy: createFindProxy(config) })
  let publicUrl = config.publicUrl ?? localUrl(config.host, config.port)
  const pipeline = await createPipeline({
    ...(await partsOf(config, ground)),
    upstream,
    videoSettings: {
      secretKey: ground.secretKey,
      publicUrl: () => publicUrl,
      deadlineMs: config.videoDeadlineMs,
      backgroundDeadlineMs: config.backgroundDeadlineMs,
      pace: ground.pollPace,
    },
  })
  const unsettled = openUnsettledFiles({
    ...ground,
    dataDirectory: config.dataDirectory,
    calls: ground.storage.calls,
  })
  // Before recovery, which would end the same calls with less information than there is here.
  await unsettled.settle()
  await unsettled.reserve()
  const housekeeping = await startHousekeeping({
    ...ground,
    logRetentionDays: config.logRetentionDays,
    isRunning: (callId) => pipeline.isRunning(callId),
    ...(options.timing?.periods !== undefined && { periods: options.timing.periods }),
  })
  const opened = await openAll(config, pipeline, { ...options, ground, canWrite: housekeeping.canWrite })
  const addresses = addressesOf(config, opened)
  publicUrl = addresses.baseUrl
  const rounds = startRounds(ground, pipeline, { ...opened, unsettled })
  const vocabulary = loadWhenQuiet(pipeline, () => opened.servers.openCalls())
  return {
    ...addresses,
    ops: opened.ops,
    pipeline,
    loadApi: opened.loadApi,
    openCalls: () => opened.servers.openCalls(),
    async stop() {
      clearInterval(vocabulary)
      await stopAll({ config, ground, pipeline, upstream, unsettled, housekeeping, opened, rounds })
    },
  }
}

/** Even if a step fails, everything the store has not accepted is written to a file. */
async function stopAll(all: {
  readonly config: Config
  readonly ground: Ground
  readonly pipeline: Pipeline
  readonly upstream: Pick<Upstream, 'close'>
  readonly unsettled: UnsettledFiles
  readonly housekeeping: Housekeeping
  readonly opened: Opened
  readonly rounds: { stop(): Promise<void> }
}): Promise<void> {
  const { pipeline, unsettled, opened } = all
  const { storage, blobs, telemetry } = all.ground
  await opened.close()
  // Written at once: the next steps use the store, which may be unreachable, and the process may be killed before they
  // finish.
  await unsettled.write(pipeline.pending.left())
  try {
    all.housekeeping.stop()
    await all.rounds.stop()
    pipeline.close()
    await all.upstream.close()
    await pipeline.pending.stop()
    await telemetry.background.drain(all.config.shutdownGraceMs)
    await opened.identity.messenger.close()
  } finally {
    await unsettled.write(await pipeline.pending.stop())
    await blobs.close()
    await storage.close()
    await telemetry.close()
  }
}

const STORAGE_HUNG =
  'the database no longer answers, and its thread cannot be ended: this process refuses calls, writes ' +
  'unsettled calls to a file and exits; check the disk that holds the data directory'

/** The basis for all other parts. */
interface Ground {
  readonly telemetry: Telemetry
  readonly now: () => number
  readonly pollPace: number
  readonly instance: InstanceId
  readonly secretKey: Uint8Array
  /** Private addresses that client-chosen addresses may lead to. */
  readonly allow: AllowList
  readonly storage: Storage
  readonly blobs: BlobStore
}

async function openGround(
  config: Config,
  prepare: Prepare,
  { timing, onStorageHung, ops }: StartOptions,
): Promise<Ground> {
  const now = timing?.now ?? Date.now
  const { telemetry, instance, data } = await openProcess(config, now)
  const onHung = (): void => {
    telemetry.log.error({}, STORAGE_HUNG)
    onStorageHung?.()
  }
  const storage = await openStore(config, data, {
    telemetry,
    instance,
    now,
    onHung,
    // A process without the operator's port is one of several workers.
    runsCalls: ops ? 'alone' : 'together',
  })
  await prepare({ storage, telemetry, now })
  const blobs = await openBlobStore(config, telemetry, now)
  const allow = new AllowList(config.fetchAllow, createFindProxy(config))
  const pollPace = timing?.pollPace ?? 1
  return { telemetry, now, pollPace, instance, secretKey: data.secretKey, allow, storage, blobs }
}

async function partsOf(
  config: Config,
  ground: Ground,
): Promise<Omit<PipelineParts, 'upstream' | 'videoSettings'>> {
  const { storage, blobs, telemetry, instance, allow, now, pollPace } = ground
  return {
    storage,
    blobs,
    bodyFiles: createBodyFiles(config.dataDirectory, telemetry),
    telemetry,
    instanceId: instance,
    fetchRemote: async (url, options) =>
      noteForbidden(telemetry, 'a call', await fetchRemote(url, { ...options, allow })),
    streamRemote: async (url, options) =>
      noteForbidden(telemetry, 'a call', await streamRemote(url, { ...options, allow })),
    openRemote: (call, sink, options) =>
      openRemote(call, sink, {
        ...options,
        allow,
        onRefused: (reason) => noteForbidden(telemetry, 'a call', { kind: 'refused', reason }),
      }),
    tokens: createTokenCounter(),
    limits: {
      bodyLimitBytes: config.bodyLimitBytes,
      bodyMembersMax: config.bodyMembersMax,
      bodyMessagesMax: config.bodyMessagesMax,
      bodyDepthMax: config.bodyDepthMax,
      bytesInFlightMax: config.bytesInFlightLimit,
      answerDeadlineMs: config.callDeadlineMs,
      countsPerMinuteMax: config.countsPerMinuteMax,
    },
    now,
    pollPace,
    draw: Math.random,
  }
}

/** Starts the periodic work: videos, scheduled prices, overdue payments, renewals and alerts. */
function startRounds(
  { storage, secretKey, allow, telemetry, now }: Ground,
  pipeline: Pipeline,
  {
    identity,
    cashier,
    unsettled,
  }: Pick<Opened, 'identity' | 'cashier'> & { readonly unsettled: UnsettledFiles },
): { stop(): Promise<void> } {
  const stopVideos = startVideos(pipeline)
  const prices = keepPrices({ storage, telemetry, now })
  const payments = keepPayments(cashier, telemetry)
  const owed = every(OWED_EVERY_MS, telemetry, {
    work: () => bookLate(storage, pipeline, now()),
    name: 'charge of what accounts owe',
  })
  const customers = keepCustomerRounds({
    storage,
    catalogue: () => pipeline.catalogue(),
    messenger: identity.messenger,
    secretKey,
    allow,
    telemetry,
    now,
  })
  // Files of processes that stop while this one runs.
  const files = every(UNSETTLED_EVERY_MS, telemetry, {
    work: async () => {
      await unsettled.settle()
      await unsettled.reserve()
    },
    name: 'settle what other processes left in files',
  })
  return {
    async stop() {
      clearInterval(files)
      clearInterval(owed)
      prices.stop()
      payments.stop()
      customers.stop()
      await stopVideos()
    },
  }
}

const OWED_EVERY_MS = MINUTE_MS

/** How long a returning instance, or the file it left, may still correct a recovered call. */
const CORRECTABLE_MS = 30 * DAY_MS

/** Charges what is owed beyond monthly caps when the next month begins, even for accounts that make no calls. */
async function bookLate(storage: Storage, pipeline: Pipeline, at: number): Promise<void> {
  const { timezone } = pipeline.catalogue().settings
  await storage.calls.forgetRecovered(at - CORRECTABLE_MS)
  await storage.accounts.chargeOwed({ at, monthStart: pipeline.monthOf(at, timezone).from })
}

/** Migrates the store to this version and lets `prepare` fill it, for processes that serve afterwards. */
export async function prepareStore(config: Config, prepare: Prepare): Promise<void> {
  const now = Date.now
  const { telemetry, instance, data } = await openProcess(config, now)
  const storage = await openStore(config, data, { telemetry, instance, now })
  try {
    await prepare({ storage, telemetry, now })
  } finally {
    await storage.close()
    await telemetry.close()
  }
}

/**
 * What a process sets up before it opens a store: a log, an instance id, and its data directory, with warnings about
 * it.
 */
async function openProcess(config: Config, now: () => number) {
  const telemetry = createTelemetry({
    level: config.logLevel,
    now,
    version: VERSION,
    securityLog: config.securityLog,
  })
  warn(config, telemetry)
  const instance = instanceId(timeOrderedId(now()))
  const data = await openDataDirectory(config)
  for (const sentence of data.tightened) telemetry.log.warn({}, sentence)
  return { telemetry, instance, data }
}

function warn(config: Config, { log }: Telemetry): void {
  for (const warning of config.warnings) log.warn({}, warning)
}

async function openStore(
  config: Config,
  data: DataDirectory,
  process: {
    readonly telemetry: Telemetry
    readonly instance: InstanceId
    readonly now: () => number
    /** Absent: it only prepares the store. */
    readonly runsCalls?: RunsCalls
    readonly onHung?: () => void
  },
): Promise<Storage> {
  try {
    const storage = await openStorage({
      databaseUrl: config.database.kind === 'postgres' ? config.database.url.unwrap() : undefined,
      dataDir: config.dataDirectory,
      secretKey: data.secretKey,
      instanceId: process.instance,
      now: process.now,
      log: process.telemetry.log,
      runsCalls: process.runsCalls,
      ...(process.onHung === undefined ? {} : { onHung: process.onHung }),
    })
    return noteAudit(storage, process.telemetry.security)
  } catch (error) {
    // A new key for a database that belongs to another key would only hide that the right one is missing.
    if (error instanceof SecretKeyMismatch && data.madeKey) await removeSecretKey(data)
    throw error
  }
}

/** A blob store that does not answer is reported at once, but only videos need it: all other calls are served. */
async function openBlobStore(config: Config, { log }: Telemetry, now: () => number): Promise<BlobStore> {
  const blobs = await openBlobs(config.blob, now)
  await blobs
    .ping(AbortSignal.timeout(PING_PATIENCE_MS))
    .catch((error: unknown) => log.error({ error }, 'the blob storage does not answer'))
  return blobs
}

/** All listeners. */
interface Opened {
  readonly servers: Servers
  readonly loadApi: () => void
  readonly identity: Identity
  readonly cashier: Cashier
  readonly ops: OpsSource
  readonly opsPort: number | undefined
  /**
   * Reports not ready, refuses new calls after the drain delay, lets running ones end, then closes; the ops port last,
   * so that a stop can be observed.
   */
  close(): Promise<void>
}

/** For resolving the name of an address that a customer sets, while the customer waits. */
const RESOLVE_TIMEOUT_MS = 3_000

/**
 * The parts of the instance for the management API: those shared with the pipeline, and its information about calls.
 */
function instanceOfApi(
  { storage, blobs, telemetry, now, secretKey }: Ground,
  pipeline: Pipeline,
): InstanceOfApi {
  const { monthOf, health, bodyBudget, directory } = pipeline
  return {
    storage,
    blobs,
    telemetry,
    now,
    secretKey,
    catalogue: () => pipeline.catalogue(),
    refreshCatalogue: () => pipeline.refreshCatalogue(),
    monthOf,
    health,
    bodyBudget,
    directory,
    probe: (target) => probeChain(pipeline, target),
    explain: (question) => explain(pipeline, question),
  }
}

interface OpenOptions extends StartOptions {
  readonly ground: Ground
  readonly canWrite: () => boolean
}

function openOps(config: Config, { telemetry }: Pipeline, source: OpsSource): Promise<OpsServer> {
  return openOpsServer({
    source,
    telemetry,
    host: config.opsHost,
    port: config.opsPort,
    hungAfterMs: config.hungAfterMs,
    beats: 'own',
  })
}

/**
 * Half of the product's code, read while the thread of the operator's port starts. Not after the listeners are open: Node never again reads a
 * file that it once could not open, for example because too many connections were open.
 */
async function readApi(): Promise<(options: ApiOptions) => ManagementApi> {
  const { openApi } = await import('../http/management/api.ts')
  return openApi
}

function reachOf(
  config: Config,
  allow: AllowList,
): Pick<ApiOptions, 'publicUrl' | 'consoleUrl' | 'closedAddress'> {
  return {
    publicUrl: config.publicUrl,
    consoleUrl: consoleUrlOf(config),
    closedAddress: (url) => closedAddress(url, { timeoutMs: RESOLVE_TIMEOUT_MS, allow }),
  }
}

async function openAll(
  config: Config,
  pipeline: Pipeline,
  { ops: withOps, ground, canWrite, environment = process.env }: OpenOptions,
): Promise<Opened> {
  const clientAddress = createClientAddress(config.trustedProxies)
  const identity = await openIdentity(config, pipeline)
  const cashier = await openCashier(config, pipeline, identity.messenger)
  let draining = false
  const source = gatewayOps(pipeline, { draining: () => draining, canWrite })
  const [ops, openApi] = await Promise.all([
    withOps ? openOps(config, pipeline, source) : undefined,
    readApi(),
  ])
  const api = openApi({
    ...instanceOfApi(ground, pipeline),
    identity,
    cashier,
    presets: knownPresets(environment),
    examine: runningExaminer({ config, environment, catalogue: () => pipeline.catalogue(), now: ground.now }),
    clientAddress,
    ...reachOf(config, ground.allow),
  })
  const servers = await openServers({
    ...config,
    pipeline,
    api: api.answer,
    consolePages: openConsole(config, pipeline.telemetry),
    clientAddress,
    isProxy: createIsProxy(config.trustedProxies),
    gatewayHost: config.sharedPort ? hostOf(config.gatewayUrl) : undefined,
  })
  return {
    servers,
    loadApi: api.load,
    ops: source,
    identity,
    cashier,
    opsPort: ops?.port,
    async close() {
      draining = true
      servers.drain()
      await delay(config.drainDelayMs)
      await servers.stopListening()
      pipeline.drain()
      await servers.close(config.shutdownGraceMs)
      await ops?.close()
    },
  }
}

/** The console's address, for mails. */
function consoleUrlOf({
  console: pages,
  publicUrl,
}: Pick<Config, 'console' | 'publicUrl'>): string | undefined {
  return pages === 'off' || publicUrl === undefined ? undefined : `${publicUrl}/console`
}

/** Output of `npm run build`; without it only the API is served. */
function openConsole(config: Config, { background, log }: Telemetry): ConsolePages | undefined {
  if (config.console === 'off') return undefined
  const pages = openConsolePages(consoleFolder(), background)
  if (pages === undefined) log.warn({}, 'this build has no console: run npm run build')
  return pages
}

/** Next to the bundle that holds this module; when run from source, the built one is used too. */
function consoleFolder(): URL {
  const fromSource = import.meta.url.endsWith('.ts')
  return new URL(fromSource ? '../../dist/console/' : './console/', import.meta.url)
}

function addressesOf(
  config: Config,
  { servers, opsPort }: Opened,
): Pick<RunningGateway, 'baseUrl' | 'gatewayBaseUrl' | 'opsUrl'> {
  return {
    baseUrl: config.publicUrl ?? localUrl(config.host, servers.port),
    gatewayBaseUrl: config.gatewayUrl ?? localUrl(config.host, servers.gatewayPort),
    opsUrl: opsPort === undefined ? undefined : localUrl(config.opsHost, opsPort),
  }
}

function hostOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : new URL(url).hostname.toLowerCase()
}

export function localUrl(host: string | undefined, port: number): string {
  const name = host === undefined || host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
