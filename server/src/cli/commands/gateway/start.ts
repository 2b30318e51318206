import { existsSync } from 'node:fs'
import { CommandFailure } from '../../exit-codes.ts'

/** The gateway's own bundle, next to this one, so that other commands need not load it. */
const MAIN = new URL('./main.js', import.meta.url)

/** Runs until a signal ends it; the process exits by itself. */
export async function start(): Promise<void> {
  if (!existsSync(MAIN)) throw new CommandFailure('failed', 'the gateway is not built: run npm run build')
  await import(MAIN.href)
}
