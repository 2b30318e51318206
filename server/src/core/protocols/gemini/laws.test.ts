import { BUDGET_AUTO, effortForLevel, effortOf, levelForEffort } from '../../canonical/effort.ts'
import {
  CUSTOM_INPUT_SCHEMA,
  customToolDescription,
  wrapCustomInput,
} from '../../canonical/tools/custom-tools.ts'
import type {
  CanonicalRequest,
  MediaPart,
  Part,
  ReasoningPart,
  ReasoningRequest,
  Tool,
  ToolResultPart,
  Turn,
} from '../../canonical/request.ts'
import type { Block, CanonicalResponse, Finish } from '../../canonical/response.ts'
import type { Usage } from '../../canonical/usage.ts'
import { CAPABLE, CAPABLE_TARGET, PLAIN_REQUEST, protocolLaws } from '../testing/laws.ts'
import { geminiProtocol } from './index.ts'

const asked: CanonicalRequest = {
  ...PLAIN_REQUEST,
  reasoning: { effort: undefined, budgetTokens: BUDGET_AUTO, expose: true, summary: 'auto' },
}

protocolLaws(geminiProtocol, {
  target: { ...CAPABLE_TARGET, capabilities: { ...CAPABLE, reasoning: 'level' } },
  terminator: '"modelVersion":"platform-model","responseId":"0198f0aa11"}\r\n\r\n',
  request: expressibleRequest,
  response: expressibleResponse,
  asked,
})

/** What a Gemini body has words for, as a model of the third generation takes it. */
function expressibleRequest(request: CanonicalRequest): CanonicalRequest {
  const { output } = request
  const tools = request.tools.map(expressibleTool)
  return {
    ...request,
    turns: expressibleTurns(request.turns),
    tools,
    toolChoice: tools.length === 0 ? undefined : request.toolChoice,
    parallelToolCalls: undefined,
    output:
      output.kind === 'json-schema'
        ? { ...output, name: undefined, description: undefined, strict: undefined }
        : output,
    reasoning: expressibleReasoning(request.reasoning),
    stream: false,
    includeUsage: true,
    candidates: request.candidates === 1 ? undefined : request.candidates,
    verbosity: undefined,
    user: undefined,
    metadata: undefined,
    serviceTier: ['default', 'flex', 'priority'].find((tier) => tier === request.serviceTier),
    promptCacheKey: undefined,
    cacheAll: undefined,
    state: { store: undefined, previousResponseId: undefined },
  }
}

function expressibleTool(tool: Tool): Tool {
  if (tool.type === 'hosted') return tool
  const { name, namespace } = tool
  const plain = { type: 'function' as const, name, namespace, strict: undefined }
  if (tool.type === 'custom') {
    return { ...plain, description: customToolDescription(tool), parameters: CUSTOM_INPUT_SCHEMA }
  }
  // A schema without properties is no schema here.
  const { parameters, description } = tool
  const empty = JSON.stringify(parameters) === JSON.stringify({ type: 'object', properties: {} })
  return { ...plain, description, parameters: empty ? undefined : parameters }
}

function expressibleReasoning(reasoning: ReasoningRequest | undefined): ReasoningRequest | undefined {
  if (reasoning === undefined) return undefined
  const effort = effortOf(reasoning)
  const shown = reasoning.expose !== false && effort !== 'none'
  return {
    effort: effort === undefined ? undefined : effortForLevel(levelForEffort(effort)),
    budgetTokens: undefined,
    expose: shown,
    summary: shown ? 'auto' : undefined,
  }
}

/** A system message in the middle is said by the user; everything of one role in a row is one turn. */
function expressibleTurns(turns: readonly Turn[]): readonly Turn[] {
  const out: Turn[] = []
  for (const turn of turns) {
    const role = turn.role === 'system' ? 'user' : turn.role
    const parts = (turn.role === 'system' ? turn.parts.map(wrapped) : turn.parts).flatMap(expressiblePart)
    const last = out.at(-1)
    if (parts.length === 0) continue
    if (last?.role === role) out[out.length - 1] = { ...last, parts: [...last.parts, ...parts] }
    else out.push({ role, parts })
  }
  return out
}

function wrapped(part: Part): Part {
  return part.type === 'text' ? { type: 'text', text: `<system>\n${part.text}\n</system>` } : part
}

function expressiblePart(part: Part): readonly Part[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return [{ type: 'text', text: part.text }]
    case 'media':
      return [expressibleMedia(part)]
    case 'reasoning':
      return expressibleThought(part)
    case 'tool-call': {
      const written = part.kind === 'custom' ? wrapCustomInput(part.arguments) : part.arguments
      return [{ ...part, kind: 'function', arguments: written }]
    }
    case 'tool-result':
      return [expressibleResult(part)]
    case 'opaque':
      return [part]
  }
}

/** An address always comes with a kind of media here. */
function expressibleMedia(part: MediaPart): MediaPart {
  const { source } = part
  const typed = source.kind === 'url' ? { ...source, mediaType: 'image/jpeg' } : source
  return { ...part, source: typed, detail: undefined, filename: undefined }
}

function expressibleThought(part: ReasoningPart): readonly Part[] {
  const { signature } = part
  if (signature === undefined) return []
  const kind = part.kind === 'redacted' ? 'redacted' : 'summary'
  return [{ ...part, kind, signature: { ...signature, id: undefined } }]
}

/** Texts are joined by line breaks and come before the media. */
function expressibleResult(result: ToolResultPart): ToolResultPart {
  const text = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const media = result.content.flatMap((part) => (part.type === 'media' ? [expressibleMedia(part)] : []))
  const texts = text === '' ? [] : [{ type: 'text' as const, text }]
  return { ...result, kind: 'function', content: [...texts, ...media] }
}

/** Signatures leave in an envelope and are tested by themselves. */
function expressibleResponse(response: CanonicalResponse): CanonicalResponse {
  return {
    ...response,
    usage: response.usage === undefined ? REPORTED : expressibleUsage(response.usage),
    candidates: response.candidates.map(({ index, blocks, finish }) => ({
      index,
      blocks: joined(blocks.flatMap(expressibleBlock)),
      finish: expressibleFinish(finish),
    })),
  }
}

const REPORTED: Usage = {
  input: 3,
  cachedInput: undefined,
  cacheWrite: undefined,
  cacheWrite1h: undefined,
  output: 5,
  reasoning: undefined,
}

/** What was written to a cache is input like any other. */
function expressibleUsage(usage: Usage): Usage {
  const input = (usage.input ?? 0) + (usage.cacheWrite ?? 0) + (usage.cacheWrite1h ?? 0)
  return { ...usage, input, cacheWrite: undefined, cacheWrite1h: undefined }
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
    case 'opaque':
      return [block]
  }
}

/** Nothing marks where one text ends and the next begins. */
function joined(blocks: readonly Block[]): readonly Block[] {
  const out: Block[] = []
  for (const block of blocks) {
    const last = out.at(-1)
    if (last?.type === 'text' && block.type === 'text') {
      out[out.length - 1] = { ...last, text: last.text + block.text }
    } else if (last?.type === 'reasoning' && block.type === 'reasoning') {
      out[out.length - 1] = { ...last, text: last.text + block.text }
    } else out.push(block)
  }
  return out
}

function expressibleFinish(finish: Finish): Finish {
  switch (finish.reason) {
    case 'refusal':
      return { ...finish, reason: 'content-filter' }
    case 'stop-sequence':
      return { ...finish, reason: 'stop', stopSequence: undefined }
    case 'stop':
    case 'length':
    case 'tool-calls':
    case 'content-filter':
    case 'context-window':
    case 'other':
      return finish
  }
}
