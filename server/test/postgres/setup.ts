/** For vitest's `globalSetup`: names the run, and removes what it made on its server, and the server, in the end. */
import { dropTemplate } from './fresh-database.ts'
import { RUN_VARIABLE, stopServer } from './server.ts'

export function setup(): void {
  process.env[RUN_VARIABLE] = String(process.pid)
}

export async function teardown(): Promise<void> {
  await dropTemplate()
  stopServer(process.env[RUN_VARIABLE] ?? String(process.pid))
}
