/**
 * Checks that a start can listen before it creates anything: a secret key, a database, API keys that are shown once.
 */
import { createServer } from 'node:net'
import type { Config } from '../config/environment.ts'

/**
 * Opens and closes each configured port. Throws the error of `listen`. Another program may still take one before the
 * gateway does, so what is created in between is shown even if the start fails.
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
 * Opens and closes one port; 0 is any free one, which still checks that the host is an address of this machine. Throws
 * the error of `listen`.
 */
export function lookAtPort(port: number, host: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => server.close(() => resolve()))
  })
}
