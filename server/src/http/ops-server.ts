/** The operator's port: health, readiness, metrics. Never reachable for clients, so it asks for no key. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Gateway } from '../gateway/gateway.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { type TroubledChain, viewHealth } from './chain-health.ts'

export type Readiness = 'ready' | 'draining' | 'storage unavailable'

/** Who answers the operator: one process, or several that serve the same addresses. */
export interface OpsSource {
  readiness(): Promise<Readiness>
  /** Prometheus text form. */
  metrics(): Promise<string>
  /** Chains that are not healthy by what calls met lately. */
  troubledChains(): Promise<readonly TroubledChain[]>
}

export interface OpsServer {
  readonly port: number
  close(): Promise<void>
}

export interface OpsOptions {
  readonly source: OpsSource
  readonly telemetry: Telemetry
  readonly host: string | undefined
  readonly port: number
}

/** Ready: the storage answers and takes what is written, and the process is not on its way out. */
export function gatewayOps(
  gateway: Gateway,
  state: { readonly draining: () => boolean; readonly canWrite: () => boolean },
): OpsSource {
  return {
    async readiness() {
      if (state.draining()) return 'draining'
      if (!state.canWrite()) return 'storage unavailable'
      try {
        await gateway.storage.ping()
        return 'ready'
      } catch (error) {
        gateway.telemetry.log.warn({ error }, 'the storage does not answer the readiness check')
        return 'storage unavailable'
      }
    },
    metrics: () => gateway.telemetry.metrics.render(),
    troubledChains: () => {
      const chains = [...gateway.catalogue().models.values()].flatMap((model) => model.chains)
      const told = chains.map((chain) => ({
        chain_id: chain.id,
        ...viewHealth(gateway.health.of(chain), gateway.now()),
      }))
      return Promise.resolve(told.filter(({ state }) => state !== 'healthy'))
    },
  }
}

/** Longer than whoever looks regularly waits in between, or they meet closed connections. */
const KEEP_ALIVE_MS = 75_000

export async function openOpsServer(options: OpsOptions): Promise<OpsServer> {
  const { background } = options.telemetry
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      send(response, 405, { error: 'this port takes GET only' })
      return
    }
    const [path = '/'] = (request.url ?? '/').split('?')
    switch (path) {
      case '/healthz':
        send(response, 200, { status: 'ok' })
        return
      case '/readyz':
        background.track(sendReadiness(options, response), 'answer the readiness check')
        return
      case '/metrics':
        background.track(sendMetrics(options, response), 'answer the metrics page')
        return
      case '/chains':
        background.track(sendChains(options, response), 'answer how the chains are')
        return
      default:
        send(response, 404, { error: 'this port has /healthz, /readyz, /metrics and /chains' })
    }
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject)
    server.listen(
      { port: options.port, ...(options.host === undefined ? {} : { host: options.host }) },
      () => {
        resolve((server.address() as AddressInfo).port)
      },
    )
  })
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function sendReadiness({ source }: OpsOptions, response: ServerResponse): Promise<void> {
  const status = await source.readiness()
  send(response, status === 'ready' ? 200 : 503, { status })
}

async function sendChains({ source }: OpsOptions, response: ServerResponse): Promise<void> {
  const troubled = await source.troubledChains()
  send(response, 200, { troubled })
}

async function sendMetrics({ source, telemetry }: OpsOptions, response: ServerResponse): Promise<void> {
  try {
    const text = await source.metrics()
    response.writeHead(200, { 'content-type': telemetry.metrics.contentType })
    response.end(text)
  } catch (error) {
    telemetry.log.error({ error }, 'metrics could not be written')
    send(response, 500, { status: 'metrics unavailable' })
  }
}

function send(response: ServerResponse, status: number, body: Readonly<Record<string, unknown>>): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
