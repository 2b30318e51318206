/**
 * Calls of the kinds that are no conversation: to which vendors' forms they pass as they are, and for which they are written
 * anew. `conversion/kinds-matrix.test.ts` runs every pair of a call and a vendor through the official client.
 */
export type How = 'passed' | 'written anew'
export type VendorKind =
  | 'openai'
  | 'google'
  | 'vertex'
  | 'dashscope'
  | 'voyage'
  | 'jina'
  | 'minimax'
  | 'cohere'
  | 'fal'
  | 'replicate'
  | 'ark'
  | 'xai'
  | 'groq'
  | 'mistral'
  | 'azure-openai'
  | 'siliconflow'
  | 'vllm'
  | 'fireworks'
  | 'bedrock-invoke'
  | 'kling'
  | 'jimeng'
  | 'luma'
  | 'luma-dream-machine'

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
  readonly vendors: Readonly<Partial<Record<VendorKind, How>>>
}

export const CALLS = {
  embeddings: {
    path: '/v1/embeddings',
    client: 'openai',
    protocol: 'embeddings',
    vendors: {
      openai: 'passed',
      google: 'written anew',
      vertex: 'written anew',
      dashscope: 'written anew',
      voyage: 'written anew',
      jina: 'written anew',
      cohere: 'written anew',
      fireworks: 'written anew',
      'bedrock-invoke': 'written anew',
      ark: 'passed',
      mistral: 'passed',
      'azure-openai': 'passed',
      vllm: 'passed',
    },
  },
  'embeddings of Gemini': {
    path: '/v1beta/models/{model}:batchEmbedContents',
    client: '@google/genai',
    protocol: 'gemini-embeddings',
    vendors: {
      google: 'passed',
      openai: 'written anew',
      vertex: 'written anew',
      dashscope: 'written anew',
      voyage: 'written anew',
      jina: 'written anew',
      cohere: 'written anew',
      ark: 'written anew',
      mistral: 'written anew',
      'azure-openai': 'written anew',
      vllm: 'written anew',
      fireworks: 'written anew',
      'bedrock-invoke': 'written anew',
    },
  },
  images: {
    path: '/v1/images/generations',
    client: 'openai',
    protocol: 'images',
    vendors: {
      openai: 'passed',
      google: 'written anew',
      vertex: 'written anew',
      dashscope: 'written anew',
      fal: 'written anew',
      replicate: 'written anew',
      minimax: 'written anew',
      siliconflow: 'written anew',
      'bedrock-invoke': 'written anew',
      kling: 'written anew',
      jimeng: 'written anew',
      luma: 'written anew',
      'luma-dream-machine': 'written anew',
      ark: 'passed',
      xai: 'passed',
      'azure-openai': 'passed',
    },
  },
  'changed images': {
    path: '/v1/images/edits',
    client: 'openai',
    protocol: 'images',
    vendors: {
      openai: 'passed',
      'azure-openai': 'passed',
      xai: 'written anew',
      kling: 'written anew',
      jimeng: 'written anew',
      luma: 'written anew',
    },
  },
  'varied images': {
    path: '/v1/images/variations',
    client: 'openai',
    protocol: 'images',
    vendors: { openai: 'passed' },
  },
  speech: {
    path: '/v1/audio/speech',
    client: 'openai',
    protocol: 'speech',
    vendors: {
      openai: 'passed',
      google: 'written anew',
      vertex: 'written anew',
      dashscope: 'written anew',
      minimax: 'written anew',
      groq: 'passed',
      'azure-openai': 'passed',
      siliconflow: 'passed',
    },
  },
  transcription: {
    path: '/v1/audio/transcriptions',
    client: 'openai',
    protocol: 'transcription',
    vendors: {
      openai: 'passed',
      dashscope: 'written anew',
      groq: 'passed',
      mistral: 'passed',
      'azure-openai': 'passed',
      siliconflow: 'passed',
      vllm: 'passed',
    },
  },
  translation: {
    path: '/v1/audio/translations',
    client: 'openai',
    protocol: 'transcription',
    vendors: {
      openai: 'passed',
      groq: 'passed',
      'azure-openai': 'passed',
      vllm: 'passed',
    },
  },
  rerank: {
    path: '/v2/rerank',
    client: 'cohere-ai',
    protocol: 'rerank',
    vendors: {
      cohere: 'passed',
      jina: 'passed',
      vllm: 'passed',
      voyage: 'written anew',
      dashscope: 'written anew',
      fireworks: 'written anew',
      'bedrock-invoke': 'written anew',
    },
  },
  moderation: {
    path: '/v1/moderations',
    client: 'openai',
    protocol: 'moderation',
    vendors: {
      openai: 'passed',
      mistral: 'passed',
    },
  },
} as const satisfies Readonly<Record<string, Call>>
export type CallName = keyof typeof CALLS

export interface KindCell {
  readonly name: CallName
  readonly call: Call
  readonly vendor: VendorKind
  readonly how: How
}

const NAMES = Object.keys(CALLS).filter((name): name is CallName => name in CALLS)
const VENDORS: readonly VendorKind[] = [
  'openai',
  'google',
  'vertex',
  'dashscope',
  'voyage',
  'jina',
  'minimax',
  'cohere',
  'fal',
  'replicate',
  'ark',
  'xai',
  'groq',
  'mistral',
  'azure-openai',
  'siliconflow',
  'vllm',
  'fireworks',
  'bedrock-invoke',
  'kling',
  'jimeng',
  'luma',
  'luma-dream-machine',
]

export const KIND_CELLS: readonly KindCell[] = NAMES.flatMap((name) => {
  const call: Call = CALLS[name]
  return VENDORS.flatMap((vendor) => {
    const how = call.vendors[vendor]
    return how === undefined ? [] : [{ name, call, vendor, how }]
  })
})

/** As it stands in the name of the test. */
export function kindCellId({ name, vendor, how }: KindCell): string {
  return `[${name} → ${vendor}: ${how}]`
}

/** The part of the page about them: a row a call. */
export function kindsSection(): string {
  const rows = NAMES.map((name) => {
    const { path, client }: Call = CALLS[name]
    const those = (how: How) =>
      KIND_CELLS.filter((cell) => cell.name === name && cell.how === how)
        .map(({ vendor }) => `\`${vendor}\``)
        .join(', ')
    return `| \`${path}\` | \`${client}\` | ${those('passed')} | ${those('written anew') || '–'} |`
  })
  return `## other kinds of calls

Each pair of a call and a vendor is a test of \`server/test/conversion/kinds-matrix.test.ts\`: the official client calls, the
upstream speaks its own form, and \`explain\` says what the gateway does between them. More vendors have one of these forms:
what each has stands in [vendor kinds](vendor-kinds.md).

| call | client | passed as it is to | written anew for |
|---|---|---|---|
${rows.join('\n')}
`
}
