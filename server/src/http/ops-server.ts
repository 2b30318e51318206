/** The operator's port: health, readiness, metrics. Never reachable for clients, so it asks for no key. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Gateway } from '../gateway/gateway.ts'

export interface OpsServer {
  readonly port: number
  close(): Promise<void>
}

export interface OpsOptions {
  readonly gateway: Gateway
  readonly host: string | undefined
  readonly port: number
  /** True from the moment new calls are refused. */
  readonly draining: () => boolean
}

export async function openOpsServer(options: OpsOptions): Promise<OpsServer> {
  const { background } = options.gateway.telemetry
  const server = createServer((request, response) => {
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
      default:
        send(response, 404, { error: 'this port has /healthz, /readyz and /metrics' })
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

/** Ready: the storage answers and the process is not on its way out. */
async function sendReadiness({ gateway, draining }: OpsOptions, response: ServerResponse): Promise<void> {
  if (draining()) {
    send(response, 503, { status: 'draining' })
    return
  }
  try {
    await gateway.storage.ping()
    send(response, 200, { status: 'ready' })
  } catch (error) {
    gateway.telemetry.log.warn({ error }, 'the storage does not answer the readiness check')
    send(response, 503, { status: 'storage unavailable' })
  }
}

async function sendMetrics({ gateway }: OpsOptions, response: ServerResponse): Promise<void> {
  try {
    const text = await gateway.telemetry.metrics.render()
    response.writeHead(200, { 'content-type': gateway.telemetry.metrics.contentType })
    response.end(text)
  } catch (error) {
    gateway.telemetry.log.error({ error }, 'metrics could not be written')
    send(response, 500, { status: 'metrics unavailable' })
  }
}

function send(response: ServerResponse, status: number, body: Readonly<Record<string, string>>): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
