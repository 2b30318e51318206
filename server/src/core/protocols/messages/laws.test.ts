import { budgetForEffort, effortOf } from '../../canonical/effort.ts'
import { CUSTOM_INPUT_SCHEMA, wrapCustomInput } from '../../canonical/tools/custom-tools.ts'
import type {
  CanonicalRequest,
  Part,
  ReasoningRequest,
  Tool,
  ToolResultPart,
  Turn,
} from '../../canonical/request.ts'
import type { Block, CanonicalResponse, Finish } from '../../canonical/response.ts'
import { toAnthropicSchema } from '../../canonical/tools/schema.ts'
import type { Usage } from '../../canonical/usage.ts'
import { CAPABLE, CAPABLE_TARGET, protocolLaws } from '../testing/laws.ts'
import { messagesProtocol } from './index.ts'

protocolLaws(messagesProtocol, {
  target: { ...CAPABLE_TARGET, capabilities: { ...CAPABLE, reasoning: 'adaptive' } },
  terminator: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
  request: expressibleRequest,
  response: expressibleResponse,
})

/** What a messages body has words for, as a model that thinks adaptively takes it. */
function expressibleRequest(request: CanonicalRequest): CanonicalRequest {
  const tools = request.tools.map(expressibleTool)
  const reasoning = expressibleReasoning(request.reasoning)
  const thinks = reasoning !== undefined && reasoning.effort !== 'none'
  const { temperature, topP, topK } = request.sampling
  const free = thinks ? NO_SAMPLING : { ...NO_SAMPLING, temperature, topP, topK }
  return {
    ...request,
    ...expressibleChoice(request, tools),
    turns: expressibleTurns(request.turns),
    tools,
    maxOutputTokens: request.maxOutputTokens ?? CAPABLE_TARGET.maxOutputTokens,
    sampling: free,
    output: expressibleOutput(request.output),
    reasoning,
    includeUsage: true,
    candidates: undefined,
    logprobs: undefined,
    verbosity: undefined,
    metadata: undefined,
    serviceTier: ['auto', 'default'].find((tier) => tier === request.serviceTier),
    promptCacheKey: undefined,
    state: { store: undefined, previousResponseId: undefined },
  }
}

const NO_SAMPLING = {
  temperature: undefined,
  topP: undefined,
  topK: undefined,
  presencePenalty: undefined,
  frequencyPenalty: undefined,
  seed: undefined,
}

function expressibleChoice(
  { toolChoice, parallelToolCalls }: CanonicalRequest,
  tools: readonly Tool[],
): Pick<CanonicalRequest, 'toolChoice' | 'parallelToolCalls'> {
  if (tools.length === 0) return { toolChoice: undefined, parallelToolCalls: undefined }
  // A choice of some tools sends only those: the others could not be decoded again.
  const choice = toolChoice?.kind === 'allowed' ? ({ kind: 'auto' } as const) : toolChoice
  const single = parallelToolCalls === false && choice?.kind !== 'none'
  return single
    ? { toolChoice: choice ?? { kind: 'auto' }, parallelToolCalls: false }
    : { toolChoice: choice, parallelToolCalls: undefined }
}

/** Marks are tested by themselves; here there are none. */
function expressibleTool(tool: Tool): Tool {
  if (tool.type === 'hosted') return tool
  const { name, namespace, type } = tool
  const parameters = type === 'custom' ? CUSTOM_INPUT_SCHEMA : (tool.parameters ?? NO_PARAMETERS)
  const grammar = type === 'custom' ? tool.grammar : undefined
  const rule =
    grammar === undefined
      ? undefined
      : `The input must follow this ${grammar.syntax} grammar:\n${grammar.definition}`
  const description = [tool.description, rule].filter((line) => line !== undefined).join('\n\n')
  const told = description === '' ? tool.description : description
  return { type: 'function', name, namespace, description: told, parameters, strict: undefined }
}

const NO_PARAMETERS = { type: 'object', properties: {} }

function expressibleOutput(output: CanonicalRequest['output']): CanonicalRequest['output'] {
  if (output.kind !== 'json-schema') return { kind: 'text' }
  const schema = toAnthropicSchema(output.schema)
  return { kind: 'json-schema', name: undefined, description: undefined, schema, strict: undefined }
}

function expressibleReasoning(reasoning: ReasoningRequest | undefined): ReasoningRequest | undefined {
  if (reasoning === undefined) return undefined
  const effort = effortOf(reasoning)
  if (effort === 'none') return { effort, budgetTokens: undefined, expose: false, summary: undefined }
  // By default thoughts are shown, and the newest models show them only on request.
  const shown = reasoning.expose !== false || reasoning.summary !== undefined
  return {
    effort: effort === 'minimal' ? 'low' : effort,
    budgetTokens: effort === undefined ? -1 : undefined,
    expose: shown,
    summary: shown ? 'auto' : undefined,
  }
}

function expressibleTurns(turns: readonly Turn[]): readonly Turn[] {
  const out: Turn[] = []
  for (const turn of turns) {
    const parts = withoutLastThoughts(turn.parts.flatMap(expressiblePart))
    const last = out.at(-1)
    if (parts.length === 0) continue
    if (last?.role === turn.role) out[out.length - 1] = { ...last, parts: [...last.parts, ...parts] }
    else out.push({ role: turn.role, parts })
  }
  return out
}

function withoutLastThoughts(parts: readonly Part[]): readonly Part[] {
  return parts.slice(0, parts.findLastIndex(({ type }) => type !== 'reasoning') + 1)
}

function expressiblePart(part: Part): readonly Part[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return [{ type: 'text', text: part.text }]
    case 'media':
      return part.media === 'audio' ? [{ type: 'text', text: 'no sound' }] : [{ ...part, detail: undefined }]
    case 'reasoning': {
      const { signature } = part
      if (signature === undefined) return []
      const kind = part.kind === 'redacted' ? 'redacted' : 'summary'
      return [{ ...part, kind, signature: { ...signature, id: undefined } }]
    }
    case 'tool-call': {
      const written = part.kind === 'custom' ? wrapCustomInput(part.arguments) : part.arguments
      return [{ ...part, kind: 'function', arguments: written, signature: undefined }]
    }
    case 'tool-result':
      return [expressibleResult(part)]
    case 'opaque':
      return [part]
  }
}

function expressibleResult(result: ToolResultPart): ToolResultPart {
  const content = result.content.map((part) =>
    part.type === 'media' ? { ...part, detail: undefined } : part,
  )
  const silent = result.isError && content.length === 0
  return { ...result, kind: 'function', content: silent ? [{ type: 'text', text: 'Error' }] : content }
}

/** One candidate; signatures leave in an envelope and are tested by themselves. */
function expressibleResponse(response: CanonicalResponse): CanonicalResponse {
  const [candidate] = response.candidates
  return {
    ...response,
    usage: response.usage ?? REPORTED,
    candidates:
      candidate === undefined
        ? []
        : [
            {
              index: 0,
              blocks: candidate.blocks.flatMap(expressibleBlock),
              finish: expressibleFinish(candidate.finish),
            },
          ],
  }
}

const REPORTED: Usage = {
  input: 3,
  cachedInput: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: budgetForEffort('low'),
  reasoning: 0,
}

function expressibleBlock(block: Block): readonly Block[] {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return [{ type: 'text', text: block.text, citations: [], logprobs: undefined }]
    case 'reasoning':
      return block.kind === 'redacted' ? [] : [{ ...block, kind: 'summary', signature: undefined }]
    case 'tool-call': {
      const written = block.kind === 'custom' ? wrapCustomInput(block.arguments) : block.arguments
      return [{ ...block, kind: 'function', arguments: written, signature: undefined }]
    }
    case 'media':
      return []
    case 'opaque':
      return [block]
  }
}

function expressibleFinish(finish: Finish): Finish {
  return finish.reason === 'content-filter' ? { ...finish, reason: 'refusal' } : finish
}
