import type {
  CanonicalRequest,
  MediaPart,
  Part,
  ReasoningPart,
  TextPart,
  Tool,
  ToolResultPart,
  Turn,
} from '../../canonical/request.ts'
import type { Block, CanonicalResponse, Citation } from '../../canonical/response.ts'
import type { Usage } from '../../canonical/usage.ts'
import { CAPABLE_TARGET, protocolLaws, reasonOf } from '../testing/laws.ts'
import { chatProtocol } from './index.ts'

protocolLaws(chatProtocol, {
  target: CAPABLE_TARGET,
  terminator: 'data: [DONE]\n\n',
  request: expressibleRequest,
  response: expressibleResponse,
})

/** What a chat body has words for. */
function expressibleRequest(request: CanonicalRequest): CanonicalRequest {
  const hasTools = request.tools.length > 0
  const { output } = request
  return {
    ...request,
    turns: request.turns.map(expressibleTurn),
    toolChoice: hasTools ? request.toolChoice : undefined,
    parallelToolCalls: hasTools ? request.parallelToolCalls : undefined,
    reasoning: expressibleReasoning(request.reasoning),
    output: output.kind === 'json-schema' ? { ...output, name: output.name ?? 'response' } : output,
    // Usage is always asked for in a stream, because the call is metered by it.
    includeUsage: request.stream,
    state: { store: undefined, previousResponseId: undefined },
    tools: request.tools.map(unmarkedTool),
  }
}

/** Marks are tested by themselves; here there are none. */
function unmarkedTool(tool: Tool): Tool {
  if (tool.type !== 'function') return tool
  const { cache: _cache, ...rest } = tool
  return rest
}

function expressibleReasoning(reasoning: CanonicalRequest['reasoning']): CanonicalRequest['reasoning'] {
  const effort = reasoning?.effort
  if (effort === undefined) return undefined
  return { effort, budgetTokens: undefined, expose: effort === 'none' ? undefined : true, summary: undefined }
}

function expressibleTurn(turn: Turn): Turn {
  switch (turn.role) {
    case 'assistant':
      return { role: 'assistant', parts: expressibleAnswer(turn.parts) }
    case 'tool':
      return {
        role: 'tool',
        parts: turn.parts.map((part) => (part.type === 'tool-result' ? expressibleResult(part) : part)),
      }
    case 'user':
    case 'system':
      return { role: turn.role, parts: turn.parts.map(expressiblePart) }
  }
}

function expressiblePart(part: Part): Part {
  if (part.type === 'media') return withoutOriginal(part)
  return part.type === 'text' ? { type: 'text', text: part.text } : part
}

/** `original` is the responses protocol's alone. */
function withoutOriginal(part: MediaPart): MediaPart {
  return part.detail === 'original' ? { ...part, detail: 'high' } : part
}

/** One message: reasoning, then its text in one piece, then the calls. */
function expressibleAnswer(parts: readonly Part[]): readonly Part[] {
  const text = parts
    .flatMap((part) => (part.type === 'text' || part.type === 'refusal' ? [part.text] : []))
    .join('')
  const calls = parts.filter((part) => part.type === 'tool-call')
  const said: readonly TextPart[] = text === '' ? [] : [{ type: 'text', text }]
  return [...expressibleThoughts(parts.filter((part) => part.type === 'reasoning')), ...said, ...calls]
}

/** With a signature a block keeps its own place; without one all reasoning is one text. */
function expressibleThoughts(parts: readonly ReasoningPart[]): readonly ReasoningPart[] {
  const signed = parts.filter((part) => part.signature !== undefined)
  if (signed.length > 0) return signed
  const text = parts.map((part) => part.text).join('\n\n')
  return text === '' ? [] : [{ type: 'reasoning', kind: 'raw', text, signature: undefined }]
}

/** Texts are joined by line breaks, and an error is sent as text. */
function expressibleResult(result: ToolResultPart): ToolResultPart {
  const text = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const content: ToolResultPart['content'] = [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...result.content.flatMap((part) => (part.type === 'media' ? [withoutOriginal(part)] : [])),
  ]
  return { ...result, kind: 'function', content, isError: false }
}

/** A message holds reasoning, one text, a refusal, calls and images, in this order. */
function expressibleResponse(response: CanonicalResponse): CanonicalResponse {
  return {
    ...response,
    usage: response.usage === undefined ? undefined : expressibleUsage(response.usage),
    candidates: response.candidates.map((candidate) => {
      const blocks = expressibleBlocks(candidate.blocks)
      const ending = ENDINGS.find((word) => word === candidate.finish.reason) ?? 'stop'
      const finish = { ...candidate.finish, reason: reasonOf(ending, blocks), stopSequence: undefined }
      return { ...candidate, blocks, finish }
    }),
  }
}

const ENDINGS = ['stop', 'length', 'content-filter'] as const

function expressibleBlocks(blocks: readonly Block[]): readonly Block[] {
  const thought = blocks.find((block) => block.type === 'reasoning')
  const text = blocks.find((block) => block.type === 'text')
  const refusal = blocks.find((block) => block.type === 'refusal')
  // A stream states the kind only with the signature at the end.
  const kind: ReasoningPart['kind'] = thought?.kind === 'redacted' ? 'redacted' : 'raw'
  return [
    ...(thought === undefined ? [] : [{ ...thought, kind }]),
    ...(text === undefined ? [] : [{ ...text, citations: text.citations.map(expressibleCitation) }]),
    ...(refusal === undefined ? [] : [refusal]),
    ...blocks.filter((block) => block.type === 'tool-call'),
    ...blocks.filter((block) => block.type === 'media'),
  ]
}

function expressibleCitation(citation: Citation): Citation {
  return { ...citation, startIndex: citation.startIndex ?? 0, endIndex: citation.endIndex ?? 0 }
}

/** One number for what was written to the cache, of whatever life. */
function expressibleUsage(usage: Usage): Usage {
  const written = (usage.cacheWrite ?? 0) + (usage.cacheWrite1h ?? 0)
  return { ...usage, cacheWrite: written === 0 ? undefined : written, cacheWrite1h: undefined }
}
