#!/usr/bin/env node
/**
 * `npx sluice …`: in a checkout it installs what is missing and builds what changed, as `npm start` does; where only the
 * built product lies, it runs that.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../../', import.meta.url)
const tools = new URL('tools/project/', root)
if (existsSync(new URL('build.mjs', tools))) {
  const { requireNode } = await import(new URL('require-node.mjs', tools).href)
  requireNode(fileURLToPath(root))
  const { installWhenNeeded } = await import(new URL('dependencies.mjs', tools).href)
  const { buildWhenNeeded } = await import(new URL('build.mjs', tools).href)
  installWhenNeeded(fileURLToPath(root))
  await buildWhenNeeded(fileURLToPath(root))
}
await import(new URL('server/dist/cli.js', root).href)
