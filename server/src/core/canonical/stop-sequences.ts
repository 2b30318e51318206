/**
 * Stop sequences for upstreams that take none, or fewer than the client named: the answer is cut here, before the first
 * of them to appear in a text, wherever the stream is cut into pieces (docs/protocols.md#trap-36).
 */
import type { Block, Candidate, CanonicalResponse, Finish, StreamPart } from './response.ts'

export interface StopCutter {
  push(part: StreamPart): readonly StreamPart[]
  /** The answer has ended at a sequence; further output is ignored. */
  readonly stopped: boolean
}

/**
 * `sequences` must not be empty; only the first candidate is checked, since several candidates need an upstream that
 * has `stop`.
 */
export function stopCutter(sequences: readonly string[]): StopCutter {
  return new StreamStopCutter(sequences)
}

/** The same for a whole answer. */
export function cutResponse(response: CanonicalResponse, sequences: readonly string[]): CanonicalResponse {
  if (sequences.length === 0) return response
  return {
    ...response,
    candidates: response.candidates.map((candidate) => cutCandidate(candidate, sequences)),
  }
}

function cutCandidate(candidate: Candidate, sequences: readonly string[]): Candidate {
  const blocks: Block[] = []
  for (const block of candidate.blocks) {
    const found = block.type === 'text' ? findFirst(block.text, sequences) : undefined
    if (block.type !== 'text' || found === undefined) {
      blocks.push(block)
      continue
    }
    const text = block.text.slice(0, found.at)
    if (text !== '') blocks.push({ ...block, text, citations: [], logprobs: undefined })
    return { ...candidate, blocks, finish: stoppedAt(found.sequence) }
  }
  return candidate
}

interface Found {
  readonly at: number
  readonly sequence: string
}

/** The earliest; of two that begin at the same place the one named first. */
function findFirst(text: string, sequences: readonly string[]): Found | undefined {
  let first: Found | undefined
  for (const sequence of sequences) {
    const at = text.indexOf(sequence)
    if (at >= 0 && (first === undefined || at < first.at)) first = { at, sequence }
  }
  return first
}

function stoppedAt(sequence: string): Finish {
  return { reason: 'stop-sequence', raw: undefined, stopSequence: sequence, explanation: undefined }
}

class StreamStopCutter implements StopCutter {
  readonly #sequences: readonly string[]
  readonly #longest: number
  readonly #open = new Set<number>()
  /** Texts whose end may be the beginning of a sequence, held back until more is known. */
  readonly #held = new Map<number, string>()
  #stopped = false

  constructor(sequences: readonly string[]) {
    this.#sequences = sequences
    this.#longest = sequences.reduce((longest, { length }) => Math.max(longest, length), 0)
  }

  get stopped(): boolean {
    return this.#stopped
  }

  push(part: StreamPart): readonly StreamPart[] {
    // Usage still counts; everything else comes after the end of the answer.
    if (this.#stopped) return part.type === 'usage' ? [part] : []
    switch (part.type) {
      case 'block-start':
        this.#open.add(part.block)
        if (part.kind.type === 'text') this.#held.set(part.block, '')
        return [part]
      case 'text-delta':
        return this.#text(part.block, part.text)
      case 'block-end':
        this.#open.delete(part.block)
        return [...this.#release(part.block), part]
      case 'start':
      case 'arguments-delta':
      case 'signature':
      case 'citation':
      case 'logprobs':
      case 'usage':
      case 'finish':
      case 'ping':
      case 'end':
      case 'error':
        return [part]
    }
  }

  #text(block: number, text: string): readonly StreamPart[] {
    const held = this.#held.get(block)
    if (held === undefined) return [{ type: 'text-delta', block, text }]
    const whole = held + text
    const found = findFirst(whole, this.#sequences)
    if (found !== undefined) return this.#stop(block, whole.slice(0, found.at), found.sequence)
    const safe = whole.length - this.#suspectLength(whole)
    this.#held.set(block, whole.slice(safe))
    return safe === 0 ? [] : [{ type: 'text-delta', block, text: whole.slice(0, safe) }]
  }

  /** Length of the tail that could be the beginning of a sequence. */
  #suspectLength(text: string): number {
    for (let length = Math.min(this.#longest - 1, text.length); length > 0; length -= 1) {
      const end = text.slice(text.length - length)
      if (this.#sequences.some((sequence) => sequence.startsWith(end))) return length
    }
    return 0
  }

  #release(block: number): readonly StreamPart[] {
    const text = this.#held.get(block) ?? ''
    this.#held.delete(block)
    return text === '' ? [] : [{ type: 'text-delta', block, text }]
  }

  #stop(block: number, text: string, sequence: string): readonly StreamPart[] {
    this.#stopped = true
    const said: readonly StreamPart[] = text === '' ? [] : [{ type: 'text-delta', block, text }]
    const closed = [...this.#open].map((open): StreamPart => ({ type: 'block-end', block: open }))
    return [
      ...said,
      ...closed,
      { type: 'finish', candidate: 0, finish: stoppedAt(sequence) },
      { type: 'end' },
    ]
  }
}
