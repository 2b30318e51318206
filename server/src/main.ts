/**
 * The process behind `npm start`. It loads nothing before it has checked the version of Node, so that an old one gives an error message
 * instead of a syntax error.
 */
import { oldNodeText } from './config/node-version.ts'

const refused = oldNodeText({ version: process.versions.node, path: process.execPath })
if (refused === undefined) {
  const { runProcess } = await import('./workers/run-process.ts')
  await runProcess()
} else {
  process.stderr.write(refused)
  process.exitCode = 1
}
