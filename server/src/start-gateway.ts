/** Puts the house together: configuration in, a running gateway out. */
import { type InstanceId, instanceId } from './core/ids.ts'
import type { Config } from './config/environment.ts'
import { openDataDirectory } from './config/data-directory.ts'
import { createGateway, type Gateway } from './gateway/gateway.ts'
import { loadTokenCounter } from './gateway/token-counter.ts'
import { openApi } from './http/api.ts'
import { createClientAddress } from './http/client-address.ts'
import { type OpsServer, openOpsServer } from './http/ops-server.ts'
import { openServers, type Servers } from './http/servers.ts'
import { keepHouse } from './housekeeping.ts'
import { timeOrderedId } from './management/new-id.ts'
import { openStorage } from './storage/open.ts'
import type { Storage } from './storage/storage.ts'
import { createTelemetry, type Telemetry } from './telemetry/telemetry.ts'
import { openUpstream } from './upstream/send.ts'
import { VERSION } from './version.ts'

export interface RunningGateway {
  /** As a client on this machine reaches them, without a slash at the end. */
  readonly baseUrl: string
  readonly gatewayBaseUrl: string
  readonly opsUrl: string
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

export async function startGateway(config: Config, prepare: Prepare): Promise<RunningGateway> {
  const now = Date.now
  const telemetry = createTelemetry({ level: config.logLevel, now, version: VERSION })
  warn(config, telemetry)
  const instance = instanceId(timeOrderedId(now()))
  const storage = await openStore(config, { telemetry, instance, now })
  await prepare({ storage, telemetry, now })
  const upstream = openUpstream()
  const gateway = await createGateway({
    storage,
    upstream,
    telemetry,
    tokens: await loadTokenCounter(),
    instanceId: instance,
    limits: {
      bodyLimitBytes: config.bodyLimitBytes,
      bytesInFlightMax: config.bytesInFlightLimit,
      answerDeadlineMs: config.callDeadlineMs,
    },
    now,
    draw: Math.random,
  })
  const house = await keepHouse({ storage, telemetry, instance, now })
  const doors = await openDoors(config, gateway)
  return {
    ...addressesOf(config, doors),
    gateway,
    openCalls: () => doors.servers.openCalls(),
    async stop() {
      await doors.close()
      house.stop()
      gateway.close()
      await upstream.close()
      await telemetry.background.drain(config.shutdownGraceMs)
      await storage.close()
      await telemetry.close()
    },
  }
}

function warn(config: Config, { log }: Telemetry): void {
  for (const warning of config.warnings) log.warn({}, warning)
  if (config.workers > 1) {
    log.warn(
      { workers: config.workers },
      'SLUICE_WORKERS is not supported yet: one process serves everything',
    )
  }
}

async function openStore(
  config: Config,
  process: { readonly telemetry: Telemetry; readonly instance: InstanceId; readonly now: () => number },
): Promise<Storage> {
  const { secretKey } = await openDataDirectory(config)
  return openStorage({
    databaseUrl: config.database.kind === 'postgres' ? config.database.url.unwrap() : undefined,
    dataDir: config.dataDirectory,
    secretKey,
    instanceId: process.instance,
    now: process.now,
    log: process.telemetry.log,
  })
}

/** Everything that listens. */
interface Doors {
  readonly servers: Servers
  readonly ops: OpsServer
  /** Refuses new calls, lets running ones end, then closes; the ops port last, so that a stop can be watched. */
  close(): Promise<void>
}

async function openDoors(config: Config, gateway: Gateway): Promise<Doors> {
  const clientAddress = createClientAddress(config.trustedProxies)
  let draining = false
  const ops = await openOpsServer({
    gateway,
    host: config.host,
    port: config.opsPort,
    draining: () => draining,
  })
  const servers = await openServers({
    ...config,
    gateway,
    api: await openApi({ gateway, clientAddress }),
    clientAddress,
    gatewayHost: config.sharedPort ? hostOf(config.gatewayUrl) : undefined,
  })
  return {
    servers,
    ops,
    async close() {
      draining = true
      gateway.drain()
      await servers.close(config.shutdownGraceMs)
      await ops.close()
    },
  }
}

function addressesOf(
  config: Config,
  { servers, ops }: Doors,
): Pick<RunningGateway, 'baseUrl' | 'gatewayBaseUrl' | 'opsUrl'> {
  return {
    baseUrl: config.publicUrl ?? localUrl(config.host, servers.port),
    gatewayBaseUrl: config.gatewayUrl ?? localUrl(config.host, servers.gatewayPort),
    opsUrl: localUrl(config.host, ops.port),
  }
}

function hostOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : new URL(url).hostname.toLowerCase()
}

function localUrl(host: string | undefined, port: number): string {
  const name = host === undefined || host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
