/** A stream put together into a whole answer, and a whole answer told as a stream. */
import type { JsonValue } from '../json.ts'
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

export interface StreamFold {
  push(part: StreamPart): void
  /** The answer so far; complete after `end`. */
  response(): CanonicalResponse
}

interface GrowingBlock {
  readonly candidate: number
  readonly start: BlockStart
  text: string
  signature: Signature | undefined
  readonly citations: Citation[]
  logprobs: JsonValue[] | undefined
}

export function foldStream(): StreamFold {
  let start: { readonly id: string; readonly createdAt: number | undefined } = {
    id: '',
    createdAt: undefined,
  }
  let usage: Usage | undefined
  let failure: UpstreamError | undefined
  const blocks = new Map<number, GrowingBlock>()
  const finishes = new Map<number, Finish>()

  function push(part: StreamPart): void {
    switch (part.type) {
      case 'start':
        start = part
        return
      case 'block-start':
        blocks.set(part.block, openBlock(part.candidate, part.kind))
        return
      case 'text-delta':
      case 'arguments-delta': {
        const block = blocks.get(part.block)
        if (block !== undefined) block.text += part.text
        return
      }
      case 'signature': {
        const block = blocks.get(part.block)
        if (block !== undefined) block.signature = part.signature
        return
      }
      case 'citation':
        blocks.get(part.block)?.citations.push(part.citation)
        return
      case 'logprobs':
        addLogprobs(blocks.get(part.block), part.logprobs)
        return
      case 'usage':
        usage = usage === undefined ? part.usage : mergeUsage(usage, part.usage)
        return
      case 'finish':
        finishes.set(part.candidate, part.finish)
        return
      case 'error':
        failure = part.error
        return
      case 'block-end':
      case 'ping':
      case 'end':
        return
    }
  }

  return {
    push,
    response: () => ({
      id: start.id,
      createdAt: start.createdAt,
      candidates: candidatesOf(blocks, finishes),
      usage,
      serviceTier: undefined,
      ...(failure === undefined ? {} : { failure }),
    }),
  }
}

/** The parts a stream of this answer would have had: for an upstream that answers a stream request with a whole body. */
export function streamPartsOf(response: CanonicalResponse): readonly StreamPart[] {
  const parts: StreamPart[] = [{ type: 'start', id: response.id, createdAt: response.createdAt }]
  let block = 0
  for (const candidate of response.candidates) {
    for (const whole of candidate.blocks) {
      parts.push(...blockParts({ block, candidate: candidate.index, whole }))
      block += 1
    }
  }
  if (response.usage !== undefined) parts.push({ type: 'usage', usage: response.usage })
  if (response.failure !== undefined) {
    parts.push({ type: 'error', error: response.failure })
    return parts
  }
  for (const { index, finish } of response.candidates)
    parts.push({ type: 'finish', candidate: index, finish })
  parts.push({ type: 'end' })
  return parts
}

interface NumberedBlock {
  readonly block: number
  readonly candidate: number
  readonly whole: Block
}

function blockParts({ block, candidate, whole }: NumberedBlock): readonly StreamPart[] {
  return [
    { type: 'block-start', block, candidate, kind: startOf(whole) },
    ...contentParts(block, whole),
    { type: 'block-end', block },
  ]
}

function startOf(block: Block): BlockStart {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return { type: block.type }
    case 'reasoning':
      return { type: 'reasoning', kind: block.kind }
    case 'tool-call':
      return {
        type: 'tool-call',
        id: block.id,
        name: block.name,
        namespace: block.namespace,
        kind: block.kind,
      }
    case 'media':
    case 'opaque':
      return block
  }
}

function contentParts(block: number, whole: Block): readonly StreamPart[] {
  switch (whole.type) {
    case 'text':
      return [
        ...(whole.logprobs === undefined
          ? []
          : [{ type: 'logprobs', block, logprobs: whole.logprobs } as const]),
        ...textParts(block, whole.text),
        ...whole.citations.map((citation) => ({ type: 'citation', block, citation }) as const),
      ]
    case 'refusal':
      return textParts(block, whole.text)
    case 'reasoning':
      return [...textParts(block, whole.text), ...signatureParts(block, whole.signature)]
    case 'tool-call':
      return [
        ...(whole.arguments === ''
          ? []
          : [{ type: 'arguments-delta', block, text: whole.arguments } as const]),
        ...signatureParts(block, whole.signature),
      ]
    case 'media':
    case 'opaque':
      return []
  }
}

function textParts(block: number, text: string): readonly StreamPart[] {
  return text === '' ? [] : [{ type: 'text-delta', block, text }]
}

function signatureParts(block: number, signature: Signature | undefined): readonly StreamPart[] {
  return signature === undefined ? [] : [{ type: 'signature', block, signature }]
}

function openBlock(candidate: number, start: BlockStart): GrowingBlock {
  return { candidate, start, text: '', signature: undefined, citations: [], logprobs: undefined }
}

function addLogprobs(block: GrowingBlock | undefined, logprobs: JsonValue): void {
  if (block === undefined) return
  block.logprobs ??= []
  if (isJsonArray(logprobs)) for (const token of logprobs) block.logprobs.push(token)
  else block.logprobs.push(logprobs)
}

function candidatesOf(
  blocks: ReadonlyMap<number, GrowingBlock>,
  finishes: ReadonlyMap<number, Finish>,
): readonly Candidate[] {
  const grown = new Map<number, Block[]>()
  for (const index of finishes.keys()) grown.set(index, [])
  for (const block of blocks.values()) {
    const list = grown.get(block.candidate) ?? []
    list.push(wholeOf(block))
    grown.set(block.candidate, list)
  }
  return [...grown]
    .sort(([one], [other]) => one - other)
    .map(([index, list]) => ({ index, blocks: list, finish: finishes.get(index) ?? UNFINISHED }))
}

const UNFINISHED: Finish = {
  reason: 'other',
  raw: undefined,
  stopSequence: undefined,
  explanation: undefined,
}

function wholeOf({ start, text, signature, citations, logprobs }: GrowingBlock): Block {
  switch (start.type) {
    case 'text':
      return { type: 'text', text, citations, logprobs }
    case 'refusal':
      return { type: 'refusal', text }
    case 'reasoning':
      return { type: 'reasoning', kind: start.kind, text, signature }
    case 'tool-call':
      return {
        type: 'tool-call',
        id: start.id,
        name: start.name,
        namespace: start.namespace,
        kind: start.kind,
        arguments: text,
        signature,
      }
    case 'media':
    case 'opaque':
      return start
  }
}
