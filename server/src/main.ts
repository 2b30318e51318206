/** The process behind `npm start`: reads the environment, starts, prints what to do next, stops on a signal. */
import { ConfigError, readConfig } from './config/environment.ts'
import { runGateway } from './run-gateway.ts'

try {
  await runGateway(readConfig(process.env))
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  process.stderr.write(`sluice cannot start:\n${error.message}\n`)
  process.exitCode = 1
}
