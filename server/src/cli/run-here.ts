/** Connects the command line to the process's real input and output. */
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { run } from './run.ts'

/** Resolves with the exit code. */
export function runHere(): Promise<number> {
  // The reader may close the pipe early: `sluice logs | head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit()
  })
  return run(process.argv.slice(2), {
    environment: process.env,
    workingDirectory: process.cwd(),
    now: Date.now,
    out: (line) => process.stdout.write(line),
    err: (line) => process.stderr.write(line),
    readInput: () => text(process.stdin),
    input: process.stdin,
    output: process.stdout,
    patience: { interruption, pause },
  })
}

function interruption(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort())
  return controller.signal
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(ms, undefined, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
