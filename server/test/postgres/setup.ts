/** For vitest's `globalSetup`: names the run, and stops its server in the end. */
import { RUN_VARIABLE, stopServer } from './server.ts'

export function setup(): void {
  process.env[RUN_VARIABLE] = String(process.pid)
}

export function teardown(): void {
  stopServer(process.env[RUN_VARIABLE] ?? String(process.pid))
}
