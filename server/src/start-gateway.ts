/** Puts the house together: configuration in, a running gateway out. */
import { instanceId } from './core/ids.ts'
import type { Config } from './config/environment.ts'
import { openDataDirectory } from './config/data-directory.ts'
import { createGateway, type Gateway } from './gateway/gateway.ts'
import { loadTokenCounter } from './gateway/token-counter.ts'
import { openApi } from './http/api.ts'
import { createClientAddress } from './http/client-address.ts'
import { openOpsServer } from './http/ops-server.ts'
import { openServers } from './http/servers.ts'
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
  for (const warning of config.warnings) telemetry.log.warn({}, warning)
  if (config.workers > 1) {
    telemetry.log.warn(
      { workers: config.workers },
      'SLUICE_WORKERS is not supported yet: one process serves everything',
    )
  }
  const { secretKey } = await openDataDirectory(config)
  const instance = instanceId(timeOrderedId(now()))
  const storage = await openStorage({
    databaseUrl: config.database.kind === 'postgres' ? config.database.url.unwrap() : undefined,
    dataDir: config.dataDirectory,
    secretKey,
    instanceId: instance,
    now,
    log: telemetry.log,
  })
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
    newId: () => timeOrderedId(now()),
  })
  const house = await keepHouse({ storage, telemetry, instance, now })
  const clientAddress = createClientAddress(config.trustedProxies)
  let draining = false
  const ops = await openOpsServer({
    gateway,
    host: config.host,
    port: config.opsPort,
    draining: () => draining,
  })
  const servers = await openServers({
    gateway,
    api: await openApi({ gateway, clientAddress }),
    clientAddress,
    host: config.host,
    port: config.port,
    gatewayPort: config.gatewayPort,
    gatewayHost: config.sharedPort ? hostOf(config.gatewayUrl) : undefined,
    headerLimitBytes: config.headerLimitBytes,
    headerTimeoutMs: config.headerTimeoutMs,
    bodyIdleTimeoutMs: config.bodyIdleTimeoutMs,
    clientStallTimeoutMs: config.clientStallTimeoutMs,
    keepAliveTimeoutMs: config.keepAliveTimeoutMs,
  })
  return {
    baseUrl: config.publicUrl ?? localUrl(config.host, servers.port),
    gatewayBaseUrl: config.gatewayUrl ?? localUrl(config.host, servers.gatewayPort),
    opsUrl: localUrl(config.host, ops.port),
    gateway,
    openCalls: () => servers.openCalls(),
    async stop() {
      draining = true
      gateway.drain()
      await servers.close(config.shutdownGraceMs)
      house.stop()
      gateway.close()
      await ops.close()
      await upstream.close()
      await telemetry.background.drain(config.shutdownGraceMs)
      await storage.close()
      await telemetry.close()
    },
  }
}

function hostOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : new URL(url).hostname.toLowerCase()
}

function localUrl(host: string | undefined, port: number): string {
  const name = host === undefined || host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
