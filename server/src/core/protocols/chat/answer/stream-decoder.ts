/**
 * A chat stream of an upstream → canonical parts. Accepts what vendors make of the protocol
 * (docs/protocols.md#chat-streams): usage anywhere, chunks without choices or delta, tool pieces in any order. The
 * finish is emitted only at `[DONE]`, because until then an error may still follow.
 */
import type { BlockStart, Citation, StreamPart, UpstreamError } from '../../../canonical/response.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.ts'
import { parseJson } from '../../../canonical/json-text.ts'
import { brokenStream, readErrorBody } from '../../error-body.ts'
import { openBlocks } from '../../open-blocks.ts'
import type { SseEvent, StreamDecoder } from '../../protocol.ts'
import { countOf, listOf, objectOf, textOf, wordOf } from '../../read-json.ts'
import { decodeAnnotations, decodeSources } from './citations.ts'
import { callArguments, thinkingText } from '../request/decode-messages.ts'
import { callIdStart, decodeImages, isErrorBody, stopSequenceOf } from './decode-response.ts'
import { decodeFinish, isFailureWord } from './finish.ts'
import { decodeDetails, type ReasoningDetail, reasoningText } from './reasoning.ts'
import { holdArguments, type ToolStream, type ToolStreams, toolStreams } from './tool-streams.ts'
import { decodeUsage } from './usage.ts'

const NOTHING: readonly StreamPart[] = []
/** The official SDK stops at the same number. */
const CANDIDATES_MAX = 128
/** White space between calls is dropped unless text follows it. */
const HELD_SPACE_MAX = 1_024
/** Sources of one answer; a search gives a few dozen. */
const CITATIONS_MAX = 2_000

type ProseKind = 'text' | 'refusal' | 'reasoning'

interface Prose {
  readonly kind: ProseKind
  readonly text: string
  readonly detail?: ReasoningDetail
  /** Log probabilities of the text. */
  readonly tokens?: readonly JsonValue[]
  /** Opens the block even without text. */
  readonly always?: true
}

interface CandidateState {
  readonly index: number
  /** The prose block that is open. */
  prose: { readonly kind: ProseKind; readonly block: number; readonly detail: number | undefined } | undefined
  readonly tools: ToolStreams
  sawTool: boolean
  sawRefusal: boolean
  /** Length of the text in earlier blocks: positions of citations count from the message's beginning. */
  textBefore: number
  textLength: number
  /** Citations already emitted; some vendors repeat the whole list in every chunk. */
  readonly cited: Set<string>
  /** White space after a tool call, held until text follows. */
  space: string
  finishWord: string | undefined
  stopSequence: string | undefined
}

export class ChatStreamDecoder implements StreamDecoder {
  #parts: StreamPart[] = []
  #over = false
  #started = false
  #id = ''
  #sources: readonly Citation[] = []
  readonly #candidates = new Map<number, CandidateState>()
  readonly #blocks = openBlocks((part) => this.#parts.push(part))

  push(event: SseEvent): readonly StreamPart[] {
    if (this.#over) return NOTHING
    this.#parts = []
    if (event.data.trim() === '[DONE]') this.#done()
    else this.#chunk(event)
    return this.#parts
  }

  end(): readonly StreamPart[] {
    if (this.#over) return NOTHING
    this.#parts = []
    this.#fail(brokenStream('the upstream closed the stream before its end'))
    return this.#parts
  }

  #chunk({ event, data, json }: SseEvent): void {
    const chunk = json ?? parseJson(data)
    if (!isJsonObject(chunk))
      return this.#fail(brokenStream('the upstream sent a chunk that is not a JSON object'))
    if (isErrorBody(chunk) || event === 'error') return this.#fail(readErrorBody(undefined, chunk))
    this.#start(chunk)
    this.#usage(chunk.usage ?? objectOf(chunk.x_groq)?.usage)
    const sources = decodeSources(chunk)
    if (sources.length > 0) this.#sources = sources
    for (const choice of listOf(chunk.choices)) {
      if (this.#over) return
      if (isJsonObject(choice)) this.#choice(choice)
    }
  }

  /** Azure begins with a chunk that has neither id nor choices. */
  #start(chunk: JsonObject): void {
    if (this.#started) return
    const id = textOf(chunk.id) ?? ''
    if (id === '' && listOf(chunk.choices).length === 0) return
    this.#started = true
    this.#id = id
    this.#parts.push({ type: 'start', id, createdAt: countOf(chunk.created) })
  }

  #usage(value: JsonValue | undefined): void {
    const usage = decodeUsage(value)
    if (usage !== undefined) this.#parts.push({ type: 'usage', usage })
  }

  #choice(choice: JsonObject): void {
    const candidate = this.#candidate(countOf(choice.index) ?? 0)
    if (candidate === undefined) return this.#fail(brokenStream('the upstream sent too many choices'))
    // Moonshot puts the usage of a stream here.
    this.#usage(choice.usage)
    const delta = objectOf(choice.delta)
    if (delta !== undefined) this.#delta(candidate, delta, choice)
    const word = wordOf(choice.finish_reason)
    if (word === undefined) return
    if (isFailureWord(word)) return this.#fail(readErrorBody(undefined, choice))
    candidate.finishWord = word
    candidate.stopSequence = stopSequenceOf(choice)
  }

  #candidate(index: number): CandidateState | undefined {
    const known = this.#candidates.get(index)
    if (known !== undefined) return known
    if (this.#candidates.size >= CANDIDATES_MAX) return undefined
    const candidate: CandidateState = {
      index,
      prose: undefined,
      tools: toolStreams(),
      sawTool: false,
      sawRefusal: false,
      textBefore: 0,
      textLength: 0,
      cited: new Set(),
      space: '',
      finishWord: undefined,
      stopSequence: undefined,
    }
    this.#candidates.set(index, candidate)
    return candidate
  }

  /**
   * One chunk may close a block, open the next and contain its first text (docs/protocols.md#trap-8): handled in order.
   */
  #delta(candidate: CandidateState, delta: JsonObject, choice: JsonObject): void {
    this.#reasoning(candidate, delta)
    this.#content(candidate, delta, choice)
    const refusal = wordOf(delta.refusal)
    if (refusal !== undefined) this.#prose(candidate, { kind: 'refusal', text: refusal })
    for (const entry of listOf(delta.tool_calls)) if (isJsonObject(entry)) this.#tool(candidate, entry)
    const legacy = objectOf(delta.function_call)
    if (legacy !== undefined) this.#tool(candidate, { index: 0, function: legacy })
    for (const image of decodeImages(delta.images)) this.#image(candidate, image)
    this.#annotations(candidate, delta)
  }

  #reasoning(candidate: CandidateState, delta: JsonObject): void {
    const details = decodeDetails(delta.reasoning_details)
    const text = reasoningText(delta)
    if (text !== undefined && details.every((detail) => detail.text === '')) {
      this.#prose(candidate, { kind: 'reasoning', text })
    }
    for (const detail of details) this.#detail(candidate, detail)
  }

  #detail(candidate: CandidateState, detail: ReasoningDetail): void {
    if (detail.kind === 'redacted') return this.#redacted(candidate, detail)
    const open = candidate.prose
    if (detail.text !== '' && open?.kind === 'reasoning' && open.detail !== detail.index)
      this.#closeProse(candidate)
    if (detail.text !== '' || candidate.prose?.kind !== 'reasoning') {
      this.#prose(candidate, { kind: 'reasoning', text: detail.text, detail })
    }
    const block = candidate.prose?.block
    if (block !== undefined && detail.signature !== undefined) {
      this.#parts.push({ type: 'signature', block, signature: detail.signature })
    }
  }

  #redacted(candidate: CandidateState, { signature }: ReasoningDetail): void {
    if (signature === undefined) return
    this.#closeProse(candidate)
    const block = this.#open(candidate, { type: 'reasoning', kind: 'redacted' })
    if (block === undefined) return
    this.#parts.push({ type: 'signature', block, signature })
    this.#blocks.close(block)
  }

  #content(candidate: CandidateState, delta: JsonObject, choice: JsonObject): void {
    const { content } = delta
    const tokens = listOf(objectOf(choice.logprobs)?.content)
    if (typeof content === 'string') return this.#text(candidate, content, tokens)
    for (const part of listOf(content)) {
      if (!isJsonObject(part)) continue
      if (part.type === 'thinking') this.#prose(candidate, { kind: 'reasoning', text: thinkingText(part) })
      else if (part.type === 'text') this.#text(candidate, textOf(part.text) ?? '', tokens)
    }
  }

  #text(candidate: CandidateState, text: string, tokens: readonly JsonValue[]): void {
    if (text === '' && tokens.length === 0) return
    if (candidate.sawTool && candidate.prose === undefined && text.trim() === '') {
      candidate.space = (candidate.space + text).slice(0, HELD_SPACE_MAX)
      return
    }
    const whole = candidate.space + text
    candidate.space = ''
    this.#prose(candidate, { kind: 'text', text: whole, tokens })
  }

  #prose(candidate: CandidateState, prose: Prose): void {
    const { kind, text, detail, tokens = [] } = prose
    const says = text !== '' || tokens.length > 0 || detail !== undefined || prose.always === true
    if (!says) return
    if (candidate.prose?.kind !== kind) {
      this.#closeProse(candidate)
      const block = this.#open(candidate, startOf(kind, detail))
      if (block === undefined) return
      candidate.prose = { kind, block, detail: detail?.index }
      candidate.textBefore = candidate.textLength
      if (kind === 'refusal') candidate.sawRefusal = true
    }
    const { block } = candidate.prose
    if (tokens.length > 0) this.#parts.push({ type: 'logprobs', block, logprobs: tokens })
    if (kind === 'text') candidate.textLength += text.length
    if (text !== '') this.#parts.push({ type: 'text-delta', block, text })
  }

  #tool(candidate: CandidateState, entry: JsonObject): void {
    const piece = candidate.tools.take(entry)
    if (piece === undefined) return
    const { tool, text, signature } = piece
    if (tool.block === undefined && tool.name !== '') this.#openTool(candidate, tool)
    if (tool.block === undefined) {
      if (!holdArguments(tool, text)) this.#fail(brokenStream('the upstream sent a tool call without a name'))
      return
    }
    this.#arguments(tool, text)
    if (signature !== undefined) this.#parts.push({ type: 'signature', block: tool.block, signature })
  }

  #openTool(candidate: CandidateState, tool: ToolStream): void {
    this.#closeProse(candidate)
    const position = candidate.tools.all().indexOf(tool)
    const id = tool.id ?? `${callIdStart(this.#id)}${position}`
    tool.block = this.#open(candidate, {
      type: 'tool-call',
      id,
      name: tool.name,
      namespace: undefined,
      kind: tool.kind,
    })
    candidate.sawTool = true
    this.#arguments(tool, tool.held)
    tool.held = ''
  }

  #arguments(tool: ToolStream, text: string): void {
    if (tool.block === undefined || text === '') return
    tool.sawArguments = true
    this.#parts.push({ type: 'arguments-delta', block: tool.block, text })
  }

  #image(candidate: CandidateState, image: Extract<BlockStart, { type: 'media' }>): void {
    this.#closeProse(candidate)
    const block = this.#open(candidate, image)
    if (block !== undefined) this.#blocks.close(block)
  }

  #annotations(candidate: CandidateState, delta: JsonObject): void {
    for (const citation of decodeAnnotations(delta.annotations)) {
      const key = JSON.stringify(citation)
      if (candidate.cited.has(key) || candidate.cited.size >= CITATIONS_MAX) continue
      candidate.cited.add(key)
      this.#prose(candidate, { kind: 'text', text: '', always: true })
      const block = candidate.prose?.block
      if (block === undefined) return
      this.#parts.push({ type: 'citation', block, citation: shifted(citation, candidate.textBefore) })
    }
  }

  #open(candidate: CandidateState, kind: BlockStart): number | undefined {
    const block = this.#blocks.open(candidate.index, kind)
    if (block === undefined) this.#fail(brokenStream('the upstream sent too many blocks'))
    return block
  }

  #closeProse(candidate: CandidateState): void {
    if (candidate.prose === undefined) return
    this.#blocks.close(candidate.prose.block)
    candidate.prose = undefined
  }

  #done(): void {
    if (this.#candidates.size === 0) return this.#fail(brokenStream('the upstream ended without an answer'))
    for (const candidate of this.#candidates.values()) {
      if (candidate.tools.all().some((tool) => tool.block === undefined)) {
        return this.#fail(brokenStream('the upstream sent a tool call without a name'))
      }
      this.#closeCandidate(candidate)
    }
    this.#blocks.closeAll()
    for (const candidate of this.#candidates.values()) this.#finish(candidate)
    this.#parts.push({ type: 'end' })
    this.#over = true
  }

  #closeCandidate(candidate: CandidateState): void {
    if (candidate.prose?.kind === 'text' && candidate.cited.size === 0) {
      for (const citation of this.#sources) {
        this.#parts.push({ type: 'citation', block: candidate.prose.block, citation })
      }
    }
    for (const tool of candidate.tools.all()) {
      // A call without parameters is `{}`, even if the vendor sends nothing (docs/protocols.md#trap-9).
      if (!tool.sawArguments && tool.kind === 'function') this.#arguments(tool, callArguments(undefined))
    }
  }

  #finish({ index, finishWord, stopSequence, sawTool, sawRefusal }: CandidateState): void {
    const seen = { toolCall: sawTool, refusal: sawRefusal }
    this.#parts.push({
      type: 'finish',
      candidate: index,
      finish: decodeFinish(finishWord, seen, stopSequence),
    })
  }

  /** Every open block is closed, also after an error. */
  #fail(error: UpstreamError): void {
    this.#blocks.closeAll()
    this.#parts.push({ type: 'error', error })
    this.#over = true
  }
}

function startOf(kind: ProseKind, detail: ReasoningDetail | undefined): BlockStart {
  if (kind !== 'reasoning') return { type: kind }
  return { type: 'reasoning', kind: detail?.kind ?? 'raw' }
}

function shifted(citation: Citation, before: number): Citation {
  const { startIndex, endIndex } = citation
  return {
    ...citation,
    startIndex: startIndex === undefined ? undefined : Math.max(0, startIndex - before),
    endIndex: endIndex === undefined ? undefined : Math.max(0, endIndex - before),
  }
}
