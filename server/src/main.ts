/** The process behind `npm start`: reads the environment, starts, prints what to do next, stops on a signal. */
import cluster from 'node:cluster'
import { type Config, ConfigError, readConfig } from './config/environment.ts'
import { runGateway } from './house/run-gateway.ts'
import { findStartFailure, startFailureText, unforeseenText } from './house/start-failure.ts'
import { startWorkers } from './workers/primary.ts'
import { runWorker } from './workers/worker.ts'

let config: Config | undefined
try {
  config = readConfig(process.env)
  await (cluster.isWorker ? runWorker(config) : runGateway(config, startWorkers))
} catch (error) {
  process.stderr.write(`sluice cannot start:\n${explain(error)}\n`)
  // Whatever was opened before the failure would keep the process.
  process.exit(1)
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  const failure = config === undefined ? undefined : findStartFailure(error, config)
  return failure === undefined ? unforeseenText(error, config?.logLevel) : startFailureText(failure)
}
