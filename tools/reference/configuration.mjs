import { join } from 'node:path'
import { loadTypeScript } from '../project/load-typescript.mjs'
import { root } from '../project/tree.mjs'

const HEAD = `# Configuration by environment

Everything has a working default; a fresh clone starts with none of these set. What the gateway offers (vendors, models,
prices, accounts, keys) is set in the gateway file or by the management API, not by the environment.

An invalid value prevents the start, and all errors are reported together.

This page is written by \`tools/reference.mjs\` from \`server/src/config/environment-variables.ts\`.
`

export async function configurationPage() {
  const { VARIABLES } = await loadTypeScript(join(root, 'server/src/config/environment-variables.ts'))
  const rows = Object.values(VARIABLES).map(
    ({ name, form, shownDefault, meaning }) =>
      `| \`${name}\` | ${cell(form)} | ${cell(shownDefault)} | ${cell(meaning)} |`,
  )
  return `${HEAD}\n| variable | form | default | meaning |\n|---|---|---|---|\n${rows.join('\n')}\n`
}

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
