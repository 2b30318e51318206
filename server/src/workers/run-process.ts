/** Reads the environment, starts, prints what to do next, stops on a signal; or reports why it cannot start. */
import cluster from 'node:cluster'
import { setFlagsFromString } from 'node:v8'
import { type Config, ConfigError, readConfig } from '../config/environment.ts'
import { startAhead } from '../app/start-ahead.ts'
import { findStartFailure, startFailureText, unforeseenText } from '../app/start-failure.ts'
import { boundHeapGrowth } from './heap-growth.ts'

/**
 * V8 allocates objects directly in the old generation if most objects of the same allocation site lived long. Some of
 * Node's own sites, such as `once` of emitters, qualify while a process starts, and then allocate an object for each
 * request: dead in the old generation, it keeps the whole request from being collected while young. Switched off, a
 * small call takes a fifth less CPU.
 */
const NOTHING_IS_BORN_OLD = '--no-allocation-site-pretenuring'

export async function runProcess(): Promise<void> {
  setFlagsFromString(NOTHING_IS_BORN_OLD)
  boundHeapGrowth()
  let config: Config | undefined
  try {
    config = readConfig(process.env)
    startAhead(config)
    await (cluster.isWorker ? runAsWorker(config) : runAsFirst(config))
  } catch (error) {
    process.stderr.write(`sluice cannot start:\n${explain(error, config)}\n`)
    // Resources opened before the failure would keep the process running.
    process.exit(1)
  }
}

async function runAsWorker(config: Config): Promise<void> {
  const { runWorker } = await import('./worker.ts')
  await runWorker(config)
}

async function runAsFirst(config: Config): Promise<void> {
  const [{ runGateway }, { startWorkers }] = await Promise.all([
    import('../app/run-gateway.ts'),
    import('./primary.ts'),
  ])
  await runGateway(config, startWorkers)
}

function explain(error: unknown, config: Config | undefined): string {
  if (error instanceof ConfigError) return error.message
  const failure = config === undefined ? undefined : findStartFailure(error, config)
  return failure === undefined ? unforeseenText(error, config?.logLevel) : startFailureText(failure)
}
