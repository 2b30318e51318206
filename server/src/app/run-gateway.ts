import { readdirSync } from 'node:fs'
import { SECRET_KEY_FILE } from '../config/data-directory.ts'
import type { Config, Environment } from '../config/environment.ts'
import type { Catalogue } from '../core/catalogue.ts'
import { usableChains } from '../core/routing/order.ts'
import { firstCatalogue } from './first-catalogue.ts'
import { openOpsServer } from '../http/ops/ops-server.ts'
import type { OpsSource } from '../http/ops/ops-source.ts'
import { type FirstRun, prepareFirstRun } from '../management/accounts/first-run.ts'
import { makeSetupLink } from '../management/identity/sessions/setup-link.ts'
import { type SignInLink, signInLinkUrl } from '../management/identity/sessions/sign-in-link.ts'
import { answersOffline, vendorKinds } from '../providers/index.ts'
import { endedWhenHung } from './end-hung.ts'
import { localUrl, type Prepare, prepareStore, type RunningGateway, startGateway } from './start-gateway.ts'
import { lookAtPorts } from './look-at-ports.ts'
import type { Log } from '../telemetry/log.ts'
import { createTelemetry } from '../telemetry/telemetry.ts'
import { VERSION } from '../version.ts'
import { newKeysText, welcomeText } from './welcome.ts'
import { isMissing } from '../core/errors/error-code.ts'

/** Several processes that serve the same addresses. */
export interface Workers {
  /** As reported by the first worker that is ready. */
  readonly baseUrl: string
  readonly gatewayBaseUrl: string
  readonly ops: OpsSource
  /** Calls the listener for every heartbeat of a worker. */
  onBeat(listener: () => void): void
  /** Resolves when the last one has ended; after `graceMs` they are ended by force. */
  stop(graceMs: number): Promise<void>
}

/** Resolves when every worker listens. */
export type StartWorkers = (
  count: number,
  options: { readonly log: Log; readonly hungAfterMs: number },
) => Promise<Workers>

/**
 * Starts, reports to programs and people that it is ready, and stops on the first signal; a second one ends it at once.
 * `startWorkers` is for a configuration with more than one process.
 */
export async function runGateway(config: Config, startWorkers: StartWorkers): Promise<void> {
  await lookAtPorts(config)
  const environment: Environment = process.env
  const prepared: Prepared = {
    firstRun: { kind: 'not-first', unread: [] },
    catalogue: undefined,
    setupLink: undefined,
  }
  const tell = teller(config)
  const prepare: Prepare = async ({ storage, now }) => {
    tell('The database is ready. Creating its first records, then opening the ports.')
    prepared.firstRun = await prepareFirstRun({
      storage,
      config,
      environment,
      workingDirectory: process.cwd(),
      kinds: vendorKinds,
      offer: firstCatalogue(environment),
      at: now(),
    })
    prepared.catalogue = await storage.catalogue.read()
    if (prepared.firstRun.kind === 'first' && config.console === 'on')
      prepared.setupLink = await makeSetupLink(storage, now())
  }
  tell(`First start: creating the secret key and the database in ${config.dataDirectory}.`)
  try {
    const serving = await (config.workers > 1
      ? runSeveral(config, prepare, startWorkers)
      : runOne(config, prepare))
    // First, because a reader of the ready line may send a signal at once.
    stopOnSignal(serving)
    welcome(serving, prepared, config)
  } catch (error) {
    // The keys are stored by now, and later starts cannot show them, so they must be printed here.
    process.stderr.write(newKeysText(prepared.firstRun))
    throw error
  }
}

/** A first start reports its steps as it goes; a later one is too fast for that to be useful. */
function teller({ dataDirectory, secretKey }: Config): (sentence: string) => void {
  if (secretKey !== undefined || !hasNoSecretKey(dataDirectory)) return () => undefined
  return (sentence) => process.stderr.write(`${sentence}\n`)
}

/** Also false for an unreadable directory, whose contents are unknown. */
function hasNoSecretKey(dataDirectory: string): boolean {
  try {
    return !readdirSync(dataDirectory).includes(SECRET_KEY_FILE)
  } catch (error) {
    return isMissing(error)
  }
}

interface Prepared {
  firstRun: FirstRun
  catalogue: Catalogue | undefined
  /** undefined: it is not needed for signing in. */
  setupLink: SignInLink | undefined
}

/** The running gateway, in this process or in several. */
interface Serving {
  readonly baseUrl: string
  readonly gatewayBaseUrl: string
  readonly opsUrl: string | undefined
  readonly log: Log
  stop(): Promise<void>
}

async function runOne(config: Config, prepare: Prepare): Promise<Serving> {
  const state: { running: RunningGateway | undefined } = { running: undefined }
  const hung = endedWhenHung(config, () => state.running)
  const running = await startGateway(config, prepare, { ops: true, ...hung })
  state.running = running
  setImmediate(running.loadApi)
  return { ...running, log: running.pipeline.telemetry.log }
}

/** Longer than a worker takes to end and settle its calls. */
const FORCE_AFTER_GRACE_MS = 15_000

async function runSeveral(config: Config, prepare: Prepare, startWorkers: StartWorkers): Promise<Serving> {
  await prepareStore(config, prepare)
  const telemetry = createTelemetry({ level: config.logLevel, now: Date.now, version: VERSION })
  const workers = await startWorkers(config.workers, { log: telemetry.log, hungAfterMs: config.hungAfterMs })
  const ops = await openOpsServer({
    source: workers.ops,
    telemetry,
    host: config.opsHost,
    port: config.opsPort,
    hungAfterMs: config.hungAfterMs,
    beats: 'told',
  })
  workers.onBeat(() => ops.beat())
  return {
    baseUrl: workers.baseUrl,
    gatewayBaseUrl: workers.gatewayBaseUrl,
    opsUrl: localUrl(config.opsHost, ops.port),
    log: telemetry.log,
    async stop() {
      await workers.stop(config.drainDelayMs + config.shutdownGraceMs + FORCE_AFTER_GRACE_MS)
      await ops.close()
      await telemetry.close()
    },
  }
}

function welcome(serving: Serving, { firstRun, catalogue, setupLink }: Prepared, config: Config): void {
  // For programs, which do not provide a terminal.
  if (!process.stdout.isTTY) process.stdout.write(`${readyLine(serving)}\n`)
  const example = catalogue === undefined ? undefined : exampleModel(catalogue)
  process.stderr.write(
    welcomeText({
      baseUrl: serving.baseUrl,
      gatewayBaseUrl: serving.gatewayBaseUrl,
      opsUrl: serving.opsUrl,
      firstRun,
      setupUrl: setupLink === undefined ? undefined : signInLinkUrl(serving.baseUrl, setupLink),
      exampleModel: example?.id,
      exampleIsOffline: example?.offline ?? false,
      nodeVersion: process.version,
      leaves: { mail: config.smtpUrl !== undefined, phone: config.smsUrl !== undefined },
    }),
  )
}

function readyLine(serving: Serving): string {
  return JSON.stringify({
    event: 'ready',
    version: VERSION,
    base_url: serving.baseUrl,
    gateway_base_url: serving.gatewayBaseUrl,
    ops_url: serving.opsUrl,
  })
}

/** First an offline model, which answers on any machine; else the first model with a usable chain. */
function exampleModel(catalogue: Catalogue): { readonly id: string; readonly offline: boolean } | undefined {
  const callable = [...catalogue.models.values()].filter(
    (model) => model.status === 'enabled' && model.clientVisible && usableChains(model, catalogue).length > 0,
  )
  const offline = callable.find((model) =>
    usableChains(model, catalogue).some(({ vendorCode, protocol }) => {
      const vendor = catalogue.vendors.get(vendorCode)
      return vendor !== undefined && answersOffline(vendor.kind, protocol)
    }),
  )
  const chosen = offline ?? callable[0]
  return chosen === undefined ? undefined : { id: chosen.modelId, offline: chosen === offline }
}

function stopOnSignal(serving: Serving): void {
  let stopping = false
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(130)
    stopping = true
    serving.log.info({ signal }, 'stopping: waiting for running calls to end')
    serving.stop().then(
      () => {
        serving.log.info({}, 'stopped')
        process.exit(0)
      },
      (error: unknown) => {
        process.stderr.write(`sluice could not stop cleanly: ${String(error)}\n`)
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}
