/** Whether a start can listen, asked before it makes anything: a secret key, a database, API keys that are shown once. */
import { createServer } from 'node:net'
import type { Config } from '../config/environment.ts'

/**
 * Takes each port that the configuration names and gives it back. Throws what `listen` failed with. Another program can
 * still take one before the gateway does: whoever makes something in between shows it even when the start fails.
 */
export async function lookAtPorts(
  config: Pick<Config, 'host' | 'port' | 'gatewayPort' | 'opsHost' | 'opsPort'>,
): Promise<void> {
  const { host, opsHost } = config
  // Both addresses may share one port.
  for (const port of new Set([config.port, config.gatewayPort])) await lookAtPort(port, host)
  await lookAtPort(config.opsPort, opsHost)
}

/**
 * Takes one port and gives it back; 0 is any free one, on a host that may still be no address of this machine. Throws what
 * `listen` failed with.
 */
export function lookAtPort(port: number, host: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => server.close(() => resolve()))
  })
}
