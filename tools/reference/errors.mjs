import { join } from 'node:path'
import { loadTypeScript } from '../project/load-typescript.mjs'
import { root } from '../project/tree.mjs'
import { ERROR_PROSE } from './error-prose.mjs'

const HEAD = `# Error codes

Every error of the gateway itself has a code. All endpoints answer with the same envelope:

\`\`\`json
{
  "code": 40101,
  "message": "this API key does not exist",
  "error": { "message": "this API key does not exist", "type": "gateway_error", "code": "40101", "request_id": "…" }
}
\`\`\`

- \`error.type\` is \`gateway_error\` for the codes on this page. Anything else is the upstream's own error, passed through
  with its status and body.
- On \`/v1/messages\` the envelope also has \`"type": "error"\`, so that clients of that protocol parse it.
- Every 429 has \`Retry-After\` in whole seconds.
- \`request_id\` is also in the header \`x-request-id\` and in the call log.

This page is written by \`tools/reference.mjs\` from \`server/src/core/errors/catalogue.ts\` and
\`tools/reference/error-prose.mjs\`.
`

export async function errorsPage() {
  const { ERRORS } = await loadTypeScript(join(root, 'server/src/core/errors/catalogue.ts'))
  const codes = Object.keys(ERRORS).sort()
  const silent = codes.filter((code) => ERROR_PROSE[code] === undefined)
  const unknown = Object.keys(ERROR_PROSE).filter((code) => ERRORS[code] === undefined)
  if (silent.length + unknown.length > 0) {
    throw new Error(
      `tools/reference/error-prose.mjs needs an entry for ${silent.join(', ') || 'none'} and none for ${unknown.join(', ') || 'none'}`,
    )
  }
  const rows = codes.map((code) => `| [${code}](#${code}) | ${ERRORS[code].status} | ${ERRORS[code].title} |`)
  const table = ['| code | HTTP status | |', '|---|---|---|', ...rows].join('\n')
  return `${HEAD}\n${table}\n\n${codes.map((code) => section(code, ERRORS[code], ERROR_PROSE[code])).join('\n')}`
}

function section(code, { status, title, message }, { meaning, causes, mend }) {
  return `## ${code}

**${title}**, HTTP ${status}. \`${message}\`

${meaning}

${causes.map((cause) => `- ${cause}`).join('\n')}

What to do: ${mend}
`
}
