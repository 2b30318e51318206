import { join } from 'node:path'
import { loadTypeScript } from '../project/load-typescript.mjs'
import { root } from '../project/tree.mjs'

/** The document a running gateway serves at `/openapi.json`, without one running. */
export async function openapiDocument() {
  const { describeApi } = await loadTypeScript(
    join(root, 'server/src/http/management/openapi/describe-api.ts'),
  )
  return `${written(describeApi(OPTIONS), '')}\n`
}

/** How deep the document has lines of its own: an operation is one, so that a difference shows which changed. */
const LINES_DEPTH = 3

function written(value, indent) {
  const isLine = indent.length === LINES_DEPTH || typeof value !== 'object' || Array.isArray(value)
  if (isLine) return JSON.stringify(value)
  const deeper = `${indent} `
  const members = Object.entries(value).map(
    ([name, member]) => `${deeper}${JSON.stringify(name)}: ${written(member, deeper)}`,
  )
  return `{\n${members.join(',\n')}\n${indent}}`
}

/** Stands for the gateway while routes are only written down: whatever is asked of it is this again. */
const nothing = new Proxy(() => nothing, {
  get: (_target, name) => (name === Symbol.toPrimitive ? () => '' : nothing),
  apply: () => nothing,
})

/** Read while routes are written down; a part that is missing here shows as "of undefined". */
const OPTIONS = Object.fromEntries(
  [
    'storage',
    'blobs',
    'catalogue',
    'refreshCatalogue',
    'now',
    'monthOf',
    'telemetry',
    'health',
    'bodyBudget',
    'directory',
    'probe',
    'explain',
    'secretKey',
    'closedAddress',
    'identity',
    'cashier',
    'presets',
    'clientAddress',
  ].map((name) => [name, nothing]),
)
