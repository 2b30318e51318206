/**
 * Canonical parts → a chat stream. The first chunk of a candidate carries the role, tools are counted from 0 among
 * tools only (docs/protocols.md#trap-1), usage comes last and only when asked for, `[DONE]` only after a clean end.
 * Chunks are built from prepared strings; only the delta's own text is encoded each time.
 */
import { type EnvelopeKind, sealSignature } from '../../../canonical/envelope.ts'
import type { Signature } from '../../../canonical/request.ts'
import {
  type CallRestorer,
  callRestorer,
  type CustomInputReader,
  type ToolCallStart,
} from '../../../canonical/tools/restore-calls.ts'
import type { BlockStart, Finish, StreamPart } from '../../../canonical/response.ts'
import { mergeUsage, NO_USAGE, type Usage } from '../../../canonical/usage.ts'
import type { JsonObject, JsonValue } from '../../../json.ts'
import type { ReplyContext, StreamEncoder } from '../../protocol.ts'
import { encodeAnnotation } from './citations.ts'
import { completionId, encodeImage, explained, sealedCall } from './encode-response.ts'
import { errorObject } from '../error.ts'
import { encodeFinish } from './finish.ts'
import { sealedDetail } from './reasoning.ts'
import { encodeUsage } from './usage.ts'

const DONE = 'data: [DONE]\n\n'
const KEEP_ALIVE = ': keep-alive\n\n'
/** Sources of one answer; a search gives a few dozen. */
const ANNOTATIONS_MAX = 2_000

interface CandidateState {
  /** Up to `"delta":` of every chunk. */
  readonly head: string
  roleSent: boolean
  tools: number
  images: number
  reasoning: number
  /** Length of the text so far: where the next block's citations count from. */
  textLength: number
  sawReasoningText: boolean
  sawRefusal: boolean
  readonly annotations: JsonObject[]
}

type BlockState =
  | {
      readonly type: 'text'
      readonly candidate: CandidateState
      readonly offset: number
      logprobs: JsonValue | undefined
      cited: boolean
    }
  | { readonly type: 'refusal'; readonly candidate: CandidateState }
  | {
      readonly type: 'reasoning'
      readonly candidate: CandidateState
      readonly kind: Exclude<EnvelopeKind, 'call'>
      readonly position: number
      sawText: boolean
    }
  | {
      readonly type: 'tool-call'
      readonly candidate: CandidateState
      /** Up to the quoted arguments of a continuation. */
      readonly continuation: string
      readonly kind: 'function' | 'custom'
      /** Reads free text from arguments if the upstream only supports functions. */
      readonly input: CustomInputReader | undefined
      readonly position: number
      sawArguments: boolean
    }
  | { readonly type: 'silent' }

type ToolState = Extract<BlockState, { type: 'tool-call' }>
type ReasoningState = Extract<BlockState, { type: 'reasoning' }>

export class ChatStreamEncoder implements StreamEncoder {
  readonly #context: ReplyContext
  readonly #calls: CallRestorer
  readonly #head: string
  readonly #usageMember: string
  readonly #tail: string
  readonly #candidates = new Map<number, CandidateState>()
  readonly #blocks = new Map<number, BlockState>()
  #usage: Usage | undefined
  #over = false

  constructor(context: ReplyContext) {
    this.#context = context
    this.#calls = callRestorer(context.request)
    const id = JSON.stringify(completionId(context))
    const model = JSON.stringify(context.model)
    this.#head = `data: {"id":${id},"object":"chat.completion.chunk","created":${context.createdAt},"model":${model},"choices":[`
    // If usage was requested, every other chunk has `usage: null`.
    this.#usageMember = context.request.includeUsage ? ',"usage":null' : ''
    this.#tail = `,"logprobs":null,"finish_reason":null}]${this.#usageMember}}\n\n`
  }

  push(part: StreamPart): string {
    if (this.#over) return ''
    switch (part.type) {
      case 'start':
      case 'ping':
        return ''
      case 'block-start':
        return this.#open(part.block, part.candidate, part.kind)
      case 'text-delta':
        return this.#text(part.block, part.text)
      case 'arguments-delta':
        return this.#arguments(part.block, part.text)
      case 'signature':
        return this.#signature(part.block, part.signature)
      case 'citation':
        return this.#citation(part)
      case 'logprobs':
        return this.#logprobs(part.block, part.logprobs)
      case 'block-end':
        return this.#close(part.block)
      case 'usage':
        this.#usage = mergeUsage(this.#usage ?? NO_USAGE, part.usage)
        return ''
      case 'finish':
        return this.#finish(this.#candidate(part.candidate), part.finish)
      case 'end':
        return this.#end()
      case 'error':
        this.#over = true
        return `data: ${JSON.stringify({ error: errorObject(part.error) })}\n\n`
    }
  }

  keepAlive(): string {
    return KEEP_ALIVE
  }

  #candidate(index: number): CandidateState {
    const known = this.#candidates.get(index)
    if (known !== undefined) return known
    const candidate: CandidateState = {
      head: `${this.#head}{"index":${index},"delta":`,
      roleSent: false,
      tools: 0,
      images: 0,
      reasoning: 0,
      textLength: 0,
      sawReasoningText: false,
      sawRefusal: false,
      annotations: [],
    }
    this.#candidates.set(index, candidate)
    return candidate
  }

  /** The official SDK throws at a candidate whose first delta has no role. */
  #role(candidate: CandidateState): string {
    if (candidate.roleSent) return ''
    candidate.roleSent = true
    return this.#chunk(candidate, '{"role":"assistant","content":""}')
  }

  #chunk({ head }: CandidateState, delta: string): string {
    return `${head}${delta}${this.#tail}`
  }

  #open(block: number, index: number, kind: BlockStart): string {
    const candidate = this.#candidate(index)
    if (kind.type === 'reasoning') return this.#openReasoning(block, candidate, kind.kind)
    const role = this.#role(candidate)
    switch (kind.type) {
      case 'text':
        this.#blocks.set(block, {
          type: 'text',
          candidate,
          offset: candidate.textLength,
          logprobs: undefined,
          cited: false,
        })
        return role
      case 'refusal':
        candidate.sawRefusal = true
        this.#blocks.set(block, { type: 'refusal', candidate })
        return role
      case 'tool-call':
        return role + this.#openTool(block, candidate, kind)
      case 'media':
        this.#blocks.set(block, { type: 'silent' })
        return role + this.#image(candidate, kind)
      case 'opaque':
        this.#blocks.set(block, { type: 'silent' })
        return role
    }
  }

  #openReasoning(block: number, candidate: CandidateState, kind: ReasoningState['kind']): string {
    // A client may ask for the answer without the reasoning.
    if (this.#context.request.reasoning?.expose === false) return ''
    const position = candidate.reasoning
    candidate.reasoning += 1
    this.#blocks.set(block, { type: 'reasoning', candidate, kind, position, sawText: false })
    return this.#role(candidate)
  }

  #openTool(block: number, candidate: CandidateState, call: ToolCallStart): string {
    const position = candidate.tools
    candidate.tools += 1
    const { start, input } = this.#calls.start(call)
    const { id, name, kind } = start
    const [member, field] = kind === 'custom' ? ['custom', 'input'] : ['function', 'arguments']
    this.#blocks.set(block, {
      type: 'tool-call',
      candidate,
      continuation: `${candidate.head}{"tool_calls":[{"index":${position},"${member}":{"${field}":`,
      kind,
      input,
      position,
      sawArguments: false,
    })
    const begun = { index: position, id, type: member, [member]: { name, [field]: '' } }
    return this.#chunk(candidate, JSON.stringify({ tool_calls: [begun] }))
  }

  #image(candidate: CandidateState, { mediaType, data }: Extract<BlockStart, { type: 'media' }>): string {
    if (!mediaType.startsWith('image/')) return ''
    const image = encodeImage({ mediaType, data, index: candidate.images++ })
    return this.#chunk(candidate, JSON.stringify({ images: [image] }))
  }

  #text(block: number, text: string): string {
    const state = this.#blocks.get(block)
    switch (state?.type) {
      case 'text':
        state.candidate.textLength += text.length
        if (state.logprobs !== undefined) return this.#flushLogprobs(state, text)
        return `${state.candidate.head}{"content":${JSON.stringify(text)}}${this.#tail}`
      case 'refusal':
        return this.#chunk(state.candidate, `{"refusal":${JSON.stringify(text)}}`)
      case 'reasoning':
        return this.#reasoning(state, text)
      case 'tool-call':
      case 'silent':
      case undefined:
        return ''
    }
  }

  /** Several blocks are one text to a chat client, with a blank line between them. */
  #reasoning(state: ReasoningState, text: string): string {
    const { candidate } = state
    const gap = !state.sawText && candidate.sawReasoningText ? '\n\n' : ''
    state.sawText = true
    candidate.sawReasoningText = true
    return `${candidate.head}{"reasoning_content":${JSON.stringify(gap + text)}}${this.#tail}`
  }

  #arguments(block: number, text: string): string {
    const state = this.#blocks.get(block)
    if (state?.type !== 'tool-call') return ''
    return this.#callDelta(state, state.input === undefined ? text : state.input.push(text))
  }

  #callDelta(state: ToolState, text: string): string {
    if (text === '') return ''
    state.sawArguments = true
    return `${state.continuation}${JSON.stringify(text)}}}]}${this.#tail}`
  }

  #signature(block: number, signature: Signature): string {
    const state = this.#blocks.get(block)
    const { issuer } = this.#context
    if (state?.type === 'tool-call') {
      // Clients that validate each delta against a schema require the call's member in all of them.
      const member = state.kind === 'custom' ? 'custom' : 'function'
      const call = { index: state.position, [member]: {}, ...sealedCall(signature, issuer) }
      return this.#chunk(state.candidate, JSON.stringify({ tool_calls: [call] }))
    }
    if (state?.type !== 'reasoning') return ''
    const { position, kind } = state
    if (kind === 'redacted') {
      const detail = sealedDetail({ type: 'reasoning', kind, text: '', signature }, position, issuer)
      return this.#chunk(state.candidate, JSON.stringify({ reasoning_details: [detail] }))
    }
    // The text was sent as `reasoning_content`; the detail holds only the signature.
    const type = kind === 'summary' ? 'reasoning.summary' : 'reasoning.text'
    const detail = { type, index: position, signature: sealSignature(signature, kind, issuer) }
    return this.#chunk(state.candidate, JSON.stringify({ reasoning_details: [detail] }))
  }

  /**
   * Sent in one chunk after the text, with all earlier ones: clients that accumulate chunks overwrite lists instead of
   * joining them.
   */
  #citation(part: Extract<StreamPart, { type: 'citation' }>): string {
    const state = this.#blocks.get(part.block)
    if (state?.type !== 'text' || state.candidate.annotations.length >= ANNOTATIONS_MAX) return ''
    state.cited = true
    state.candidate.annotations.push(encodeAnnotation(part.citation, state.offset))
    return ''
  }

  /** They belong to the text that follows; some have none. */
  #logprobs(block: number, logprobs: JsonValue): string {
    const state = this.#blocks.get(block)
    if (state?.type !== 'text') return ''
    const earlier = state.logprobs === undefined ? '' : this.#flushLogprobs(state, '')
    state.logprobs = logprobs
    return earlier
  }

  #flushLogprobs(state: Extract<BlockState, { type: 'text' }>, text: string): string {
    const logprobs = JSON.stringify({ content: state.logprobs, refusal: null })
    state.logprobs = undefined
    const delta = `{"content":${JSON.stringify(text)}}`
    return `${state.candidate.head}${delta},"logprobs":${logprobs},"finish_reason":null}]${this.#usageMember}}\n\n`
  }

  #close(block: number): string {
    const state = this.#blocks.get(block)
    this.#blocks.delete(block)
    if (state?.type === 'text') return this.#closeText(state)
    if (state?.type !== 'tool-call') return ''
    if (state.input !== undefined) return this.#callDelta(state, state.input.end())
    if (state.sawArguments || state.kind === 'custom') return ''
    // Clients parse the arguments of every call, also of one without parameters (docs/protocols.md#trap-9).
    return `${state.continuation}"{}"}}]}${this.#tail}`
  }

  #closeText(state: Extract<BlockState, { type: 'text' }>): string {
    const { candidate, logprobs, cited } = state
    const rest = logprobs === undefined ? '' : this.#flushLogprobs(state, '')
    if (!cited) return rest
    return rest + this.#chunk(candidate, JSON.stringify({ annotations: candidate.annotations }))
  }

  #finish(candidate: CandidateState, finish: Finish): string {
    const role = this.#role(candidate)
    const refusal = candidate.sawRefusal ? null : explained(finish)
    const told = refusal === null ? '' : this.#chunk(candidate, `{"refusal":${JSON.stringify(refusal)}}`)
    const seen = { toolCall: candidate.tools > 0, refusal: candidate.sawRefusal }
    const reason = encodeFinish(finish, seen)
    return `${role}${told}${candidate.head}{},"logprobs":null,"finish_reason":"${reason}"}]${this.#usageMember}}\n\n`
  }

  #end(): string {
    this.#over = true
    const asked = this.#context.request.includeUsage && this.#usage !== undefined
    if (!asked || this.#usage === undefined) return DONE
    return `${this.#head}],"usage":${JSON.stringify(encodeUsage(this.#usage))}}\n\n${DONE}`
  }
}
