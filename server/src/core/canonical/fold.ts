/** Turns a streamed answer into a whole one and back, for upstreams that answer in the other form. */

import type { JsonValue } from '../json.ts'
import { addAll } from './add-all.ts'
import { isJsonArray } from './json-text.ts'
import type { Signature } from './request.ts'
import type {
  Block,
  BlockStart,
  Candidate,
  CanonicalResponse,
  Citation,
  Finish,
  StreamPart,
  UpstreamError,
} from './response.ts'
import { mergeUsage, type Usage } from './usage.ts'

/** The whole answer of a stream; blocks in the order they were opened, and a failure together with what came before it. */
export function foldStream(parts: Iterable<StreamPart>): CanonicalResponse {
  const fold: Fold = {
    id: '',
    createdAt: undefined,
    blocks: new Map(),
    finishes: new Map(),
    usage: undefined,
  }
  for (const part of parts) foldPart(fold, part)
  const { id, createdAt, usage, failure } = fold
  const answer = { id, createdAt, candidates: candidatesOf(fold), usage, serviceTier: undefined }
  return failure === undefined ? answer : { ...answer, failure }
}

/** The parts of a whole answer, each text in one delta. */
export function unfoldResponse(response: CanonicalResponse): readonly StreamPart[] {
  const parts: StreamPart[] = [{ type: 'start', id: response.id, createdAt: response.createdAt }]
  let block = 0
  for (const candidate of response.candidates) {
    for (const whole of candidate.blocks) {
      addAll(parts, unfoldBlock(whole, { block, candidate: candidate.index }))
      block += 1
    }
  }
  if (response.usage !== undefined) parts.push({ type: 'usage', usage: response.usage })
  if (response.failure !== undefined) return [...parts, { type: 'error', error: response.failure }]
  for (const { index, finish } of response.candidates)
    parts.push({ type: 'finish', candidate: index, finish })
  return [...parts, { type: 'end' }]
}

interface GrowingBlock {
  readonly candidate: number
  readonly start: BlockStart
  readonly texts: string[]
  readonly citations: Citation[]
  signature: Signature | undefined
  readonly logprobs: JsonValue[]
}

interface Fold {
  id: string
  createdAt: number | undefined
  readonly blocks: Map<number, GrowingBlock>
  readonly finishes: Map<number, Finish>
  usage: Usage | undefined
  failure?: UpstreamError
}

function foldPart(fold: Fold, part: StreamPart): void {
  switch (part.type) {
    case 'start':
      fold.id = part.id
      fold.createdAt = part.createdAt
      return
    case 'block-start':
      fold.blocks.set(part.block, newBlock(part.candidate, part.kind))
      return
    case 'text-delta':
    case 'arguments-delta':
      fold.blocks.get(part.block)?.texts.push(part.text)
      return
    case 'signature':
      setSignature(fold.blocks.get(part.block), part.signature)
      return
    case 'citation':
      fold.blocks.get(part.block)?.citations.push(part.citation)
      return
    case 'logprobs':
      addLogprobs(fold.blocks.get(part.block), part.logprobs)
      return
    case 'usage':
      fold.usage = fold.usage === undefined ? part.usage : mergeUsage(fold.usage, part.usage)
      return
    case 'finish':
      fold.finishes.set(part.candidate, part.finish)
      return
    case 'error':
      fold.failure = part.error
      return
    case 'block-end':
    case 'ping':
    case 'end':
      return
  }
}

function newBlock(candidate: number, start: BlockStart): GrowingBlock {
  return { candidate, start, texts: [], citations: [], signature: undefined, logprobs: [] }
}

function setSignature(block: GrowingBlock | undefined, signature: Signature): void {
  if (block !== undefined) block.signature = signature
}

/** Streams send log probabilities as a list per chunk; a whole answer holds one list. */
function addLogprobs(block: GrowingBlock | undefined, logprobs: JsonValue): void {
  if (block === undefined) return
  if (isJsonArray(logprobs)) for (const item of logprobs) block.logprobs.push(item)
  else block.logprobs.push(logprobs)
}

function candidatesOf(fold: Fold): readonly Candidate[] {
  const grown = [...fold.blocks].sort(([left], [right]) => left - right).map(([, block]) => block)
  const indices = new Set([...fold.finishes.keys(), ...grown.map(({ candidate }) => candidate)])
  return [...indices]
    .sort((left, right) => left - right)
    .map((index) => ({
      index,
      blocks: grown.filter(({ candidate }) => candidate === index).map(wholeBlock),
      finish: fold.finishes.get(index) ?? UNFINISHED,
    }))
}

const UNFINISHED: Finish = {
  reason: 'other',
  raw: undefined,
  stopSequence: undefined,
  explanation: undefined,
}

function wholeBlock({ start, texts, citations, signature, logprobs }: GrowingBlock): Block {
  const text = texts.join('')
  switch (start.type) {
    case 'text':
      return { type: 'text', text, citations, logprobs: logprobs.length === 0 ? undefined : logprobs }
    case 'refusal':
      return { type: 'refusal', text }
    case 'reasoning':
      return { type: 'reasoning', kind: start.kind, text, signature }
    case 'tool-call':
      return { ...start, arguments: text, signature }
    case 'media':
    case 'opaque':
      return start
  }
}

interface Place {
  readonly block: number
  readonly candidate: number
}

function unfoldBlock(whole: Block, { block, candidate }: Place): readonly StreamPart[] {
  return [
    { type: 'block-start', block, candidate, kind: startOf(whole) },
    ...contentOf(whole, block),
    { type: 'block-end', block },
  ]
}

function startOf(whole: Block): BlockStart {
  switch (whole.type) {
    case 'text':
    case 'refusal':
      return { type: whole.type }
    case 'reasoning':
      return { type: 'reasoning', kind: whole.kind }
    case 'tool-call': {
      const { id, name, namespace, kind } = whole
      return { type: 'tool-call', id, name, namespace, kind }
    }
    case 'media':
    case 'opaque':
      return whole
  }
}

function contentOf(whole: Block, block: number): readonly StreamPart[] {
  switch (whole.type) {
    case 'text': {
      const cited = whole.citations.map((citation): StreamPart => ({ type: 'citation', block, citation }))
      const { logprobs } = whole
      const measured: readonly StreamPart[] =
        logprobs === undefined ? [] : [{ type: 'logprobs', block, logprobs }]
      return [...delta('text-delta', block, whole.text), ...cited, ...measured]
    }
    case 'refusal':
      return delta('text-delta', block, whole.text)
    case 'reasoning':
      return [...delta('text-delta', block, whole.text), ...signed(block, whole.signature)]
    case 'tool-call':
      return [...signed(block, whole.signature), ...delta('arguments-delta', block, whole.arguments)]
    case 'media':
    case 'opaque':
      return []
  }
}

function delta(type: 'text-delta' | 'arguments-delta', block: number, text: string): readonly StreamPart[] {
  return text === '' ? [] : [{ type, block, text }]
}

function signed(block: number, signature: Signature | undefined): readonly StreamPart[] {
  return signature === undefined ? [] : [{ type: 'signature', block, signature }]
}
