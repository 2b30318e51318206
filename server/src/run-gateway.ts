import type { Config, Environment } from './config/environment.ts'
import { firstCatalogue } from './first-catalogue.ts'
import type { Catalogue } from './core/catalogue.ts'
import { usableChains } from './core/routing/order.ts'
import { type FirstRun, prepareFirstRun } from './management/first-run.ts'
import { kindsWithoutAddress, providerKinds } from './providers/index.ts'
import { type RunningGateway, startGateway } from './start-gateway.ts'
import { VERSION } from './version.ts'
import { welcomeText } from './welcome.ts'

/** Starts, tells programs and people that it is ready, and stops on the first signal; a second one ends it at once. */
export async function runGateway(config: Config, environment: Environment = process.env): Promise<void> {
  let firstRun: FirstRun = { kind: 'not-first' }
  const running = await startGateway(config, async ({ storage, now }) => {
    firstRun = await prepareFirstRun({
      storage,
      config,
      environment,
      workingDirectory: process.cwd(),
      kinds: providerKinds,
      kindsWithoutAddress,
      offer: firstCatalogue(environment),
      at: now(),
    })
  })
  process.stdout.write(`${readyLine(running)}\n`)
  const example = exampleModel(running.gateway.catalogue())
  process.stderr.write(
    welcomeText({
      baseUrl: running.baseUrl,
      gatewayBaseUrl: running.gatewayBaseUrl,
      opsUrl: running.opsUrl,
      firstRun,
      exampleModel: example?.id,
      exampleIsSandbox: example?.sandbox ?? false,
      nodeVersion: process.version,
    }),
  )
  stopOnSignal(running)
}

function readyLine(running: RunningGateway): string {
  return JSON.stringify({
    event: 'ready',
    version: VERSION,
    base_url: running.baseUrl,
    gateway_base_url: running.gatewayBaseUrl,
    ops_url: running.opsUrl,
  })
}

/** The sandbox first: it answers on any machine; else the first model that has a usable chain. */
function exampleModel(catalogue: Catalogue): { readonly id: string; readonly sandbox: boolean } | undefined {
  const callable = [...catalogue.models.values()].filter(
    (model) => model.status === 'enabled' && model.clientVisible && usableChains(model, catalogue).length > 0,
  )
  const offline = callable.find((model) =>
    usableChains(model, catalogue).some(
      (chain) => catalogue.vendors.get(chain.vendorCode)?.kind === 'sandbox',
    ),
  )
  const chosen = offline ?? callable[0]
  return chosen === undefined ? undefined : { id: chosen.modelId, sandbox: chosen === offline }
}

function stopOnSignal(running: RunningGateway): void {
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
