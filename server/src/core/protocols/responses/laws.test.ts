import type {
  CanonicalRequest,
  Part,
  ReasoningPart,
  Tool,
  ToolResultPart,
  Turn,
} from '../../canonical/request.ts'
import type { Block, CanonicalResponse } from '../../canonical/response.ts'
import type { Usage } from '../../canonical/usage.ts'
import { CAPABLE, CAPABLE_TARGET, protocolLaws, reasonOf } from '../testing/laws.ts'
import { responsesProtocol } from './index.ts'

protocolLaws(responsesProtocol, {
  target: { ...CAPABLE_TARGET, capabilities: { ...CAPABLE, cacheMarks: 'breakpoint' } },
  terminator: 'data: [DONE]\n\n',
  request: expressibleRequest,
  response: expressibleResponse,
})

/** What a responses body has words for. */
function expressibleRequest(request: CanonicalRequest): CanonicalRequest {
  const hasTools = request.tools.length > 0
  const { output, sampling } = request
  return {
    ...request,
    system: joinedSystem(request),
    turns: request.turns.map(expressibleTurn),
    tools: request.tools.map(expressibleTool),
    toolChoice: hasTools ? request.toolChoice : undefined,
    parallelToolCalls: hasTools ? request.parallelToolCalls : undefined,
    sampling: {
      ...sampling,
      topK: undefined,
      presencePenalty: undefined,
      frequencyPenalty: undefined,
      seed: undefined,
    },
    stop: [],
    output: output.kind === 'json-schema' ? { ...output, strict: output.strict ?? false } : output,
    reasoning: expressibleReasoning(request.reasoning),
    includeUsage: false,
    candidates: undefined,
    cacheAll: undefined,
    state: { store: request.state.store === true, previousResponseId: undefined },
  }
}

/** Instructions are one text. */
function joinedSystem({ system }: CanonicalRequest): CanonicalRequest['system'] {
  const text = system.map((part) => part.text).join('\n\n')
  return text === '' ? [] : [{ text, instructions: true }]
}

function expressibleTool(tool: Tool): Tool {
  if (tool.type !== 'function') return tool
  const { cache: _cache, ...rest } = tool
  const parameters = tool.parameters ?? { type: 'object', properties: {} }
  return { ...rest, parameters, strict: tool.strict ?? false }
}

function expressibleReasoning(reasoning: CanonicalRequest['reasoning']): CanonicalRequest['reasoning'] {
  const effort = reasoning?.effort
  if (effort === undefined) return undefined
  const asked = reasoning?.summary ?? (reasoning?.expose === true ? 'auto' : undefined)
  const summary = effort === 'none' ? undefined : asked
  return { effort, budgetTokens: undefined, expose: summary === undefined ? undefined : true, summary }
}

function expressibleTurn(turn: Turn): Turn {
  switch (turn.role) {
    case 'assistant':
      return { role: 'assistant', parts: expressibleAnswer(turn.parts) }
    case 'tool':
      return { role: 'tool', parts: turn.parts.map(expressibleResult) }
    case 'user':
    case 'system':
      return { role: turn.role, parts: turn.parts.map(unmarked) }
  }
}

/** Sounds have no place here, marks are tested by themselves. */
function unmarked(part: Part): Part {
  if (part.type === 'media' && part.media === 'audio') return { type: 'text', text: 'a sound' }
  return part.type === 'text' ? { type: 'text', text: part.text } : part
}

/** Calls carry no signature of their own, and reasoning that led to nothing is left out. */
function expressibleAnswer(parts: readonly Part[]): readonly Part[] {
  const plain = parts.map((part) =>
    part.type === 'tool-call' ? { ...part, signature: undefined } : unmarked(part),
  )
  const lastSaid = plain.findLastIndex((part) => part.type !== 'reasoning')
  return plain
    .slice(0, lastSaid + 1)
    .map((part) => (part.type === 'reasoning' ? expressibleThought(part) : part))
}

/** Without a signature the words are all there is. */
function expressibleThought(part: ReasoningPart): ReasoningPart {
  return part.signature === undefined ? { ...part, kind: 'raw' } : part
}

/** An error is sent as text. */
function expressibleResult(part: Part): Part {
  if (part.type !== 'tool-result') return part
  const result: ToolResultPart = { ...part, isError: false }
  return result
}

/** One candidate; neighbouring texts stay apart as parts of one message. */
function expressibleResponse(response: CanonicalResponse): CanonicalResponse {
  const { usage } = response
  return {
    ...response,
    usage: usage === undefined ? undefined : expressibleUsage(usage),
    candidates: response.candidates.slice(0, 1).map((candidate) => {
      const blocks = candidate.blocks.map(expressibleBlock)
      const ending = ENDINGS.find((word) => word === candidate.finish.reason) ?? 'stop'
      const finish = { ...candidate.finish, reason: reasonOf(ending, blocks), stopSequence: undefined }
      return { ...candidate, blocks, finish }
    }),
  }
}

const ENDINGS = ['stop', 'length', 'content-filter'] as const

function expressibleBlock(block: Block): Block {
  if (block.type === 'tool-call') return { ...block, signature: undefined }
  if (block.type !== 'text') return block
  const citations = block.citations.map((citation) => ({
    ...citation,
    startIndex: citation.startIndex ?? 0,
    endIndex: citation.endIndex ?? 0,
  }))
  return { ...block, citations }
}

/** One number for what was written to the cache, of whatever life; always there. */
function expressibleUsage(usage: Usage): Usage {
  const written = (usage.cacheWrite ?? 0) + (usage.cacheWrite1h ?? 0)
  return { ...usage, cacheWrite: written, cacheWrite1h: undefined }
}
