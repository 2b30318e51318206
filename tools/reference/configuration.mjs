import { join } from 'node:path'
import { loadTypeScript } from '../project/load-typescript.mjs'
import { root } from '../project/tree.mjs'

const HEAD = `# Configuration by environment

Everything has a working default; a fresh clone starts with none of these set. What the gateway offers (vendors, models,
prices, accounts, keys) is no environment but the gateway file or the management API.

A value that cannot be used stops the start, and all mistakes are told at once.

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
