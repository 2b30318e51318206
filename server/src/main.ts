/** The process behind `npm start`: reads the environment, starts, prints what to do next, stops on a signal. */
import cluster from 'node:cluster'
import { ConfigError, readConfig } from './config/environment.ts'
import { runGateway } from './run-gateway.ts'
import { runWorker } from './workers/worker.ts'

try {
  const config = readConfig(process.env)
  await (cluster.isWorker ? runWorker(config) : runGateway(config))
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  process.stderr.write(`sluice cannot start:\n${error.message}\n`)
  process.exitCode = 1
}
