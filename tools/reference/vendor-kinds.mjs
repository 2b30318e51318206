import { join } from 'node:path'
import { loadTypeScript } from '../project/load-typescript.mjs'
import { root } from '../project/tree.mjs'

const HEAD = `# Vendor kinds

What may stand in a gateway file's \`vendors[].kind\`: which protocols the chains over such a vendor may have,
where it listens when \`base_url\` says nothing, and what its credentials hold: one \`secret\` where the last column is empty, or
nothing where a server asks for no key. \`{…}\` in an address is one of the credential's \`fields\`.

This page is written by \`tools/reference.mjs\` from \`server/src/providers\`.
`

/** What an operator writes into a credential for each way to sign (\`server/src/upstream/credentials/auth.ts\`). */
const CREDENTIALS = {
  bearer: undefined,
  header: undefined,
  none: undefined,
  'jwt-hs256': '`secret` or `fields`: `access_key`, `secret_key`',
  'volc-hmac': '`fields`: `access_key`, `secret_key`',
  'google-oauth': '`secret`: the service account as JSON',
  'aws-sigv4': '`secret`: a key of Bedrock, or `fields`: `access_key`, `secret_key`, maybe `session_token`',
}

export async function vendorKindsPage() {
  const { providerKinds, providerOf } = await loadTypeScript(join(root, 'server/src/providers/index.ts'))
  const rows = providerKinds.map((kind) => rowOf(providerOf(kind)))
  return `${HEAD}\n| kind | vendor | protocols | address | credential |\n|---|---|---|---|---|\n${rows.join('\n')}\n`
}

function rowOf(provider) {
  const { kind, name, defaultBaseUrl, publicFields, dialects, video } = provider
  const protocols = [...Object.keys(dialects), ...(video === undefined ? [] : ['video'])]
  const address = defaultBaseUrl === undefined ? '`base_url` has to say' : `\`${defaultBaseUrl}\``
  return `| \`${kind}\` | ${name} | ${protocols.join(', ')} | ${address} | ${credentialOf({ dialects, video, publicFields })} |`
}

function credentialOf({ dialects, video, publicFields }) {
  const signers = [...Object.values(dialects), ...(video === undefined ? [] : [video])]
  const kinds = signers.map(({ auth }) => auth.kind)
  const words = [...new Set(kinds.map((kind) => CREDENTIALS[kind]))].filter((word) => word !== undefined)
  const hasPlainKey = kinds.some((kind) => CREDENTIALS[kind] === undefined)
  const either = [...(hasPlainKey && words.length > 0 ? ['`secret`'] : []), ...words].join(' or ')
  const open = publicFields.map((field) => `\`${field}\``).join(', ')
  if (open === '') return either
  return `${either === '' ? '`secret`' : either}; besides in \`fields\`: ${open}`
}
