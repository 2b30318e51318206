/** Reads the environment, starts, prints what to do next, stops on a signal; or says what kept it from starting. */
import cluster from 'node:cluster'
import { type Config, ConfigError, readConfig } from '../config/environment.ts'
import { runGateway } from '../app/run-gateway.ts'
import { findStartFailure, startFailureText, unforeseenText } from '../app/start-failure.ts'
import { startWorkers } from './primary.ts'
import { runWorker } from './worker.ts'

export async function runProcess(): Promise<void> {
  let config: Config | undefined
  try {
    config = readConfig(process.env)
    await (cluster.isWorker ? runWorker(config) : runGateway(config, startWorkers))
  } catch (error) {
    process.stderr.write(`sluice cannot start:\n${explain(error, config)}\n`)
    // Whatever was opened before the failure would keep the process.
    process.exit(1)
  }
}

function explain(error: unknown, config: Config | undefined): string {
  if (error instanceof ConfigError) return error.message
  const failure = config === undefined ? undefined : findStartFailure(error, config)
  return failure === undefined ? unforeseenText(error, config?.logLevel) : startFailureText(failure)
}
