/**
 * The process behind `sluice`. Like `main.ts` it loads nothing before it has looked at Node.
 */
import { oldNodeText } from '../config/node-version.ts'

const refused = oldNodeText({ version: process.versions.node, path: process.execPath })
if (refused === undefined) {
  const { runHere } = await import('./run-here.ts')
  // Not process.exit: what was written to a pipe may still be on its way.
  process.exitCode = await runHere()
} else {
  process.stderr.write(refused)
  process.exitCode = 1
}
