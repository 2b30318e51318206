/** The process behind `sluice`. Like `main.ts` it loads nothing before it has checked the version of Node. */
import { oldNodeText } from '../config/node-version.ts'

const refused = oldNodeText({ version: process.versions.node, path: process.execPath })
if (refused === undefined) {
  const { runHere } = await import('./run-here.ts')
  // Not process.exit: output to a pipe may not have been written yet.
  process.exitCode = await runHere()
} else {
  process.stderr.write(refused)
  process.exitCode = 1
}
