/** Says which Node is needed before anything is loaded that an older one cannot read. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Ends the process under a Node that is older than `engines` in package.json asks for. */
export function requireNode(root) {
  const least = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).engines.node.replace('>=', '')
  const [major, minor] = least.split('.').map(Number)
  const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number)
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return
  process.stderr.write(
    `Sluice needs Node ${least} or newer; this is ${process.versions.node} (${process.execPath}).\n` +
      'Install a newer one from https://nodejs.org, or let a version manager do it: nvm install 24\n',
  )
  process.exit(1)
}
