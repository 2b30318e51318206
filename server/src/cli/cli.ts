/** The process behind `sluice`: joins the command line to the real world. */
import { text } from 'node:stream/consumers'
import { run } from './run.ts'

// Whoever reads may have read enough: `sluice logs | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

const code = await run(process.argv.slice(2), {
  environment: process.env,
  workingDirectory: process.cwd(),
  now: Date.now,
  out: (line) => process.stdout.write(line),
  err: (line) => process.stderr.write(line),
  readInput: () => text(process.stdin),
  input: process.stdin,
  output: process.stdout,
})
// Not process.exit: what was written to a pipe may still be on its way.
process.exitCode = code
