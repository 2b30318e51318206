import type { Config } from './config/environment.ts'
import { startGateway } from './start-gateway.ts'
import { VERSION } from './version.ts'

/** Starts, tells programs and people that it is ready, and stops on the first signal; a second one ends it at once. */
export async function runGateway(config: Config): Promise<void> {
  const running = await startGateway(config, async () => undefined)
  process.stdout.write(
    `${JSON.stringify({
      event: 'ready',
      version: VERSION,
      base_url: running.baseUrl,
      gateway_base_url: running.gatewayBaseUrl,
      ops_url: running.opsUrl,
    })}\n`,
  )
  let stopping = false
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(130)
    stopping = true
    running.gateway.telemetry.log.info({ signal }, 'stopping: running calls may end, new ones are refused')
    running.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`sluice could not stop cleanly: ${String(error)}\n`)
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}
