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
  for (const port of new Set([config.port, config.gatewayPort])) await lookAt(port, host)
  await lookAt(config.opsPort, opsHost)
}

/** Port 0 is any free one, on a host that may still be no address of this machine. */
function lookAt(port: number, host: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => server.close(() => resolve()))
  })
}
