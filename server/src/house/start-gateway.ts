/** Puts the house together: configuration in, a running gateway out. */
import { setTimeout as delay } from 'node:timers/promises'
import { type DataDirectory, openDataDirectory, removeSecretKey } from '../config/data-directory.ts'
import type { Config } from '../config/environment.ts'
import { type InstanceId, instanceId } from '../core/ids.ts'
import { createGateway, type Gateway, type GatewayParts } from '../gateway/gateway.ts'
import { loadTokenCounter } from '../gateway/token-counter.ts'
import { startVideos } from '../gateway/video/start-videos.ts'
import { keepHouse } from './housekeeping.ts'
import { openApi } from '../http/api.ts'
import { createClientAddress } from '../http/client-address.ts'
import { gatewayOps, type OpsSource, openOpsServer } from '../http/ops-server.ts'
import { openServers, type Servers } from '../http/servers.ts'
import type { Identity } from '../management/identity/identity.ts'
import type { Cashier } from '../management/top-up/cashier.ts'
import { timeOrderedId } from '../management/new-id.ts'
import { keepOffice } from './office-rounds.ts'
import { openCashier } from './open-cashier.ts'
import { openIdentity } from './open-identity.ts'
import { keepPayments } from './payment-rounds.ts'
import { keepPrices } from './price-clock.ts'
import type { BlobStore } from '../storage/blobs.ts'
import { openStorage } from '../storage/open.ts'
import { openBlobs } from '../storage/open-blobs.ts'
import { SecretKeyMismatch } from '../storage/secret-key-mismatch.ts'
import type { Storage } from '../storage/storage.ts'
import { createTelemetry, type Telemetry } from '../telemetry/telemetry.ts'
import { fetchRemote } from '../upstream/fetch-remote.ts'
import { createFindProxy } from '../upstream/find-proxy.ts'
import { AllowList } from '../upstream/guard.ts'
import { openUpstream } from '../upstream/send.ts'
import { streamRemote } from '../upstream/stream-remote.ts'
import { VERSION } from '../version.ts'

export interface RunningGateway {
  /** As a client on this machine reaches them, without a slash at the end. */
  readonly baseUrl: string
  readonly gatewayBaseUrl: string
  /** undefined: another process answers the operator. */
  readonly opsUrl: string | undefined
  readonly ops: OpsSource
  readonly gateway: Gateway
  /** Calls that have not left by a door yet. */
  openCalls(): number
  /** Refuses new calls, lets running ones end within the configured time, settles all, closes. */
  stop(): Promise<void>
}

/** What happens between an open store and the first listener: first-run set-up, gateway file. */
export type Prepare = (house: {
  readonly storage: Storage
  readonly telemetry: Telemetry
  readonly now: () => number
}) => Promise<void>

export interface StartOptions {
  /** What tests bend: the clock, and how long vendors' advice makes polls wait. */
  readonly bent?: { readonly now: () => number; readonly videoPace: number }
  /** False where several processes serve and the first of them has the operator's port. */
  readonly ops: boolean
}

export async function startGateway(
  config: Config,
  prepare: Prepare,
  options: StartOptions = { ops: true },
): Promise<RunningGateway> {
  const ground = await openGround(config, prepare, options)
  const { storage, blobs, telemetry } = ground
  const upstream = openUpstream({ findProxy: createFindProxy(config) })
  let publicUrl = config.publicUrl ?? localUrl(config.host, config.port)
  const gateway = await createGateway({
    ...(await partsOf(config, ground)),
    upstream,
    videoSettings: {
      secretKey: ground.secretKey,
      publicUrl: () => publicUrl,
      deadlineMs: config.videoDeadlineMs,
      pace: options.bent?.videoPace ?? 1,
    },
  })
  const house = await keepHouse({ ...ground, logRetentionDays: config.logRetentionDays })
  const doors = await openDoors(config, gateway, { withOps: options.ops, canWrite: house.canWrite })
  const addresses = addressesOf(config, doors)
  publicUrl = addresses.baseUrl
  const rounds = startRounds(ground, gateway, doors)
  return {
    ...addresses,
    ops: doors.ops,
    gateway,
    openCalls: () => doors.servers.openCalls(),
    async stop() {
      await doors.close()
      house.stop()
      await rounds.stop()
      gateway.close()
      await upstream.close()
      await telemetry.background.drain(config.shutdownGraceMs)
      await doors.identity.messenger.close()
      await blobs.close()
      await storage.close()
      await telemetry.close()
    },
  }
}

/** What everything else stands on. */
interface Ground {
  readonly telemetry: Telemetry
  readonly now: () => number
  readonly instance: InstanceId
  readonly secretKey: Uint8Array
  /** Private addresses that client-chosen ones may reach. */
  readonly allow: AllowList
  readonly storage: Storage
  readonly blobs: BlobStore
}

async function openGround(config: Config, prepare: Prepare, { bent }: StartOptions): Promise<Ground> {
  const now = bent?.now ?? Date.now
  const telemetry = createTelemetry({ level: config.logLevel, now, version: VERSION })
  warn(config, telemetry)
  const instance = instanceId(timeOrderedId(now()))
  const data = await openDataDirectory(config)
  const storage = await openStore(config, data, { telemetry, instance, now })
  await prepare({ storage, telemetry, now })
  const blobs = await openBlobStore(config, telemetry, now)
  const allow = new AllowList(config.fetchAllow, createFindProxy(config))
  return { telemetry, now, instance, secretKey: data.secretKey, allow, storage, blobs }
}

async function partsOf(
  config: Config,
  { storage, blobs, telemetry, instance, allow, now }: Ground,
): Promise<Omit<GatewayParts, 'upstream' | 'videoSettings'>> {
  return {
    storage,
    blobs,
    telemetry,
    instanceId: instance,
    fetchRemote: (url, options) => fetchRemote(url, { ...options, allow }),
    streamRemote: (url, options) => streamRemote(url, { ...options, allow }),
    tokens: await loadTokenCounter(),
    limits: {
      bodyLimitBytes: config.bodyLimitBytes,
      bytesInFlightMax: config.bytesInFlightLimit,
      answerDeadlineMs: config.callDeadlineMs,
    },
    now,
    draw: Math.random,
  }
}

/** What goes on without anybody calling: videos, future prices, late payments, renewals and alerts. */
function startRounds(
  { storage, secretKey, allow, telemetry, now }: Ground,
  gateway: Gateway,
  { identity, cashier }: Pick<Doors, 'identity' | 'cashier'>,
): { stop(): Promise<void> } {
  const stopVideos = startVideos(gateway)
  const prices = keepPrices({ storage, telemetry, now })
  const payments = keepPayments(cashier, telemetry)
  const office = keepOffice({
    storage,
    catalogue: () => gateway.catalogue(),
    messenger: identity.messenger,
    secretKey,
    allow,
    telemetry,
    now,
  })
  return {
    async stop() {
      prices.stop()
      payments.stop()
      office.stop()
      await stopVideos()
    },
  }
}

/** Brings the store to this version and lets `prepare` fill it, for processes that serve afterwards. */
export async function prepareStore(config: Config, prepare: Prepare): Promise<void> {
  const now = Date.now
  const telemetry = createTelemetry({ level: config.logLevel, now, version: VERSION })
  warn(config, telemetry)
  const instance = instanceId(timeOrderedId(now()))
  const storage = await openStore(config, await openDataDirectory(config), { telemetry, instance, now })
  try {
    await prepare({ storage, telemetry, now })
  } finally {
    await storage.close()
    await telemetry.close()
  }
}

function warn(config: Config, { log }: Telemetry): void {
  for (const warning of config.warnings) log.warn({}, warning)
}

async function openStore(
  config: Config,
  data: DataDirectory,
  process: { readonly telemetry: Telemetry; readonly instance: InstanceId; readonly now: () => number },
): Promise<Storage> {
  try {
    return await openStorage({
      databaseUrl: config.database.kind === 'postgres' ? config.database.url.unwrap() : undefined,
      dataDir: config.dataDirectory,
      secretKey: data.secretKey,
      instanceId: process.instance,
      now: process.now,
      log: process.telemetry.log,
    })
  } catch (error) {
    // A key made a moment ago for a database that has one would only hide that the right one is missing.
    if (error instanceof SecretKeyMismatch && data.madeKey) await removeSecretKey(data)
    throw error
  }
}

/** A store of blobs that does not answer is told of at once, but only videos need it: all other calls are served. */
async function openBlobStore(config: Config, { log }: Telemetry, now: () => number): Promise<BlobStore> {
  const blobs = await openBlobs(config.blob, now)
  await blobs.ping().catch((error: unknown) => log.error({ error }, 'the blob storage does not answer'))
  return blobs
}

/** Everything that listens. */
interface Doors {
  readonly servers: Servers
  readonly identity: Identity
  readonly cashier: Cashier
  readonly ops: OpsSource
  readonly opsPort: number | undefined
  /**
   * Says that it is not ready, after the drain delay refuses new calls, lets running ones end, then closes; the ops port
   * last, so that a stop can be watched.
   */
  close(): Promise<void>
}

async function openDoors(
  config: Config,
  gateway: Gateway,
  { withOps, canWrite }: { readonly withOps: boolean; readonly canWrite: () => boolean },
): Promise<Doors> {
  const clientAddress = createClientAddress(config.trustedProxies)
  const identity = await openIdentity(config, gateway)
  const cashier = await openCashier(config, gateway, identity.messenger)
  let draining = false
  const source = gatewayOps(gateway, { draining: () => draining, canWrite })
  const ops = withOps
    ? await openOpsServer({
        source,
        telemetry: gateway.telemetry,
        host: config.opsHost,
        port: config.opsPort,
      })
    : undefined
  const servers = await openServers({
    ...config,
    gateway,
    api: await openApi({
      gateway,
      identity,
      cashier,
      clientAddress,
      publicUrl: config.publicUrl,
    }),
    clientAddress,
    gatewayHost: config.sharedPort ? hostOf(config.gatewayUrl) : undefined,
  })
  return {
    servers,
    ops: source,
    identity,
    cashier,
    opsPort: ops?.port,
    async close() {
      draining = true
      await delay(config.drainDelayMs)
      gateway.drain()
      await servers.close(config.shutdownGraceMs)
      await ops?.close()
    },
  }
}

function addressesOf(
  config: Config,
  { servers, opsPort }: Doors,
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
