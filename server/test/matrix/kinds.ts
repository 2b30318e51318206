/**
 * Calls of the kinds that are no conversation, and every vendor kind of the registry that serves them: whether they pass as
 * they are, or are written anew. `conversion/kinds-matrix.test.ts` runs every pair of a call and a vendor through the official
 * client.
 */
import { takesPath } from '../../src/pipeline/attempt/dialect.ts'
import { dialectForClient, providerKinds, providerOf } from '../../src/providers/index.ts'

export type How = 'passed' | 'written anew'

export interface Call {
  readonly path: string
  /** The official client. */
  readonly client: string
  /** What it is called as in `explain`. */
  readonly protocol:
    | 'embeddings'
    | 'gemini-embeddings'
    | 'images'
    | 'speech'
    | 'transcription'
    | 'rerank'
    | 'moderation'
  /** Of models for which a vendor has another form. Absent: any model. */
  readonly models?: { readonly vendor: string; readonly forward: string }
}

export const CALLS = {
  embeddings: { path: '/v1/embeddings', client: 'openai', protocol: 'embeddings' },
  'embeddings of Gemini': {
    path: '/v1beta/models/{model}:batchEmbedContents',
    client: '@google/genai',
    protocol: 'gemini-embeddings',
  },
  images: { path: '/v1/images/generations', client: 'openai', protocol: 'images' },
  'changed images': { path: '/v1/images/edits', client: 'openai', protocol: 'images' },
  'varied images': { path: '/v1/images/variations', client: 'openai', protocol: 'images' },
  speech: { path: '/v1/audio/speech', client: 'openai', protocol: 'speech' },
  'speech by CosyVoice': {
    path: '/v1/audio/speech',
    client: 'openai',
    protocol: 'speech',
    models: { vendor: 'dashscope', forward: 'cosyvoice-v3-flash' },
  },
  transcription: { path: '/v1/audio/transcriptions', client: 'openai', protocol: 'transcription' },
  'transcription by Paraformer': {
    path: '/v1/audio/transcriptions',
    client: 'openai',
    protocol: 'transcription',
    models: { vendor: 'dashscope', forward: 'paraformer-v2' },
  },
  translation: { path: '/v1/audio/translations', client: 'openai', protocol: 'transcription' },
  rerank: { path: '/v2/rerank', client: 'cohere-ai', protocol: 'rerank' },
  moderation: { path: '/v1/moderations', client: 'openai', protocol: 'moderation' },
} as const satisfies Readonly<Record<string, Call>>
export type CallName = keyof typeof CALLS

export interface KindCell {
  readonly name: CallName
  readonly call: Call
  readonly vendor: string
  readonly how: How
}

export const CALL_NAMES = Object.keys(CALLS).filter((name): name is CallName => name in CALLS)
/** It answers here: nothing is sent to anybody. */
const OFFLINE = 'sandbox'
/** Served, but not as this client asks: the pictures of its form are files, and this vendor takes addresses alone. */
const NO_FILES = '[changed images → luma-dream-machine: written anew]'

/** The protocol of the chains that answer a call. */
export function chainProtocolOf({ protocol }: Call): Exclude<Call['protocol'], 'gemini-embeddings'> {
  return protocol === 'gemini-embeddings' ? 'embeddings' : protocol
}

function howOf(vendor: string, call: Call): How | undefined {
  const dialect = providerOf(vendor)?.dialects[chainProtocolOf(call)]
  if (dialect === undefined) return undefined
  const spoken = dialectForClient(dialect, call.protocol, call.path)
  if (!takesPath(spoken, call.path)) return undefined
  return 'rewrite' in spoken && spoken.rewrite !== undefined ? 'written anew' : 'passed'
}

/** What a model is called at its vendor. */
export function forwardOf({ models }: Call): string {
  return models?.forward ?? 'theirs'
}

/** As it stands in the name of the test. */
export function kindCellId({ name, vendor, how }: Pick<KindCell, 'name' | 'vendor' | 'how'>): string {
  return `[${name} → ${vendor}: ${how}]`
}

export const KIND_CELLS: readonly KindCell[] = CALL_NAMES.flatMap((name) => {
  const call: Call = CALLS[name]
  return providerKinds.flatMap((vendor) => {
    const how = howOf(vendor, call)
    if (how === undefined || vendor === OFFLINE) return []
    if (call.models !== undefined && call.models.vendor !== vendor) return []
    const cell = { name, call, vendor, how }
    return kindCellId(cell) === NO_FILES ? [] : [cell]
  })
})

/** The part of the page about them: a row a call. */
export function kindsSection(): string {
  const rows = CALL_NAMES.map((name) => {
    const { path, client, models }: Call = CALLS[name]
    const those = (how: How) =>
      KIND_CELLS.filter((cell) => cell.name === name && cell.how === how)
        .map(({ vendor }) => `\`${vendor}\``)
        .join(', ')
    const model = models === undefined ? '' : ` (\`${models.forward}\`)`
    return `| \`${path}\`${model} | \`${client}\` | ${those('passed') || '–'} | ${those('written anew') || '–'} |`
  })
  return `## other kinds of calls

Each pair of a call and a vendor kind that serves it is a test of \`server/test/conversion/kinds-matrix.test.ts\`: the official
client calls, the upstream speaks its own form, and \`explain\` says what the gateway does between them. The pairs are those of
the registry; beside them \`luma-dream-machine\` changes images that are named by their addresses.

| call | client | passed as it is to | written anew for |
|---|---|---|---|
${rows.join('\n')}
`
}
