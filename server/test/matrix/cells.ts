/**
 * What of each client protocol works over each upstream protocol: the table behind `docs/reference/protocol-matrix.md`.
 * A cell without a reason here is run by `conversion/protocol-matrix.test.ts` through the official client, so that none is green
 * without a test.
 */
import { kindsSection } from './kinds.ts'

export const PROTOCOLS = ['chat', 'responses', 'messages', 'gemini'] as const
export type Protocol = (typeof PROTOCOLS)[number]

export const FEATURES = {
  text: 'a text and its ordinary end',
  stream: 'the same as a stream',
  system: 'system instructions',
  'multi-turn': 'a conversation of several turns',
  tools: 'a tool call, and its result sent back',
  'parallel tools': 'two calls in one streamed answer',
  'tool results with images': 'a picture in a tool result',
  images: 'a picture in a question',
  files: 'a PDF in a question',
  reasoning: 'reasoning asked for and told',
  'reasoning round trip': 'reasoning sent back with the history',
  'JSON mode': 'an answer that is some JSON',
  'JSON schema': 'an answer that keeps to a schema',
  stop: 'stop sequences',
  length: 'an answer cut at its limit',
  refusal: 'a refusal or a filtered answer',
  'usage with cache': 'token counts with a cache hit',
  errors: 'an error of the upstream',
  'mid-stream error': 'an error inside a stream',
} as const
export type Feature = keyof typeof FEATURES
export const FEATURE_NAMES = Object.keys(FEATURES).filter((name): name is Feature => name in FEATURES)

export interface Cell {
  readonly client: Protocol
  readonly upstream: Protocol
  readonly feature: Feature
  /** Why it cannot exist; undefined: it works. */
  readonly reason: string | undefined
}

/** What a client protocol has no words for. */
const WITHOUT_WORDS: Readonly<Record<Protocol, Readonly<Partial<Record<Feature, string>>>>> = {
  chat: { 'tool results with images': 'a tool message of chat completions holds text only' },
  responses: { stop: 'the responses protocol has no stop sequences' },
  messages: { 'JSON mode': 'the messages protocol has no JSON without a schema' },
  gemini: {},
}

export const CELLS: readonly Cell[] = FEATURE_NAMES.flatMap((feature) =>
  PROTOCOLS.flatMap((client) =>
    PROTOCOLS.map((upstream) => ({ client, upstream, feature, reason: WITHOUT_WORDS[client][feature] })),
  ),
)

/** As it stands in the name of the test. */
export function cellId({ client, upstream, feature }: Cell): string {
  return `[${client} → ${upstream}: ${feature}]`
}

/** The page: a table a feature, clients down, upstreams across; and one of the calls that are no conversation. */
export function matrixPage(): string {
  const head = `# Any model through any protocol

What a client of one protocol gets of a model whose upstream speaks another. Every ✓ is a test of
\`server/test/conversion/protocol-matrix.test.ts\` with the cell in its name: the official client of the row's protocol speaks to
the gateway, which speaks to an upstream in the column's own wire form. A cell that cannot exist says why. Equal
protocols pass through untouched.

The clients are \`openai\` (chat, responses), \`@anthropic-ai/sdk\` (messages) and \`@google/genai\` (gemini).
`
  const sections = FEATURE_NAMES.map((feature) => {
    const rows = PROTOCOLS.map((client) => {
      const cells = CELLS.filter((cell) => cell.client === client && cell.feature === feature)
      return `| ${client} | ${cells.map(({ reason }) => reason ?? '✓').join(' | ')} |`
    })
    const title = `## ${feature}\n\n${FEATURES[feature][0]?.toUpperCase() ?? ''}${FEATURES[feature].slice(1)}.`
    return [
      title,
      '',
      `| client ↓ upstream → | ${PROTOCOLS.join(' | ')} |`,
      '|---|---|---|---|---|',
      ...rows,
    ].join('\n')
  })
  return `${head}\n${sections.join('\n\n')}\n\n${kindsSection()}`
}
