/**
 * One block at a time, for client protocols that cannot interleave (docs/protocols.md#rule-5). The block that opened
 * first is sent live; the parts of others are held until it closes. Candidates do not wait for each other.
 */
import { addAll } from '../canonical/add-all.ts'
import type { StreamPart } from '../canonical/response.ts'
import { brokenStream } from './error-body.ts'

/**
 * Characters held for blocks that are waiting. Tool arguments and texts of one answer stay far below; more means an
 * upstream that never closes its first block.
 */
export const HELD_CHARACTERS_MAX = 8 * 1024 * 1024

export interface SerialBlocks {
  push(part: StreamPart): readonly StreamPart[]
}

export function serializeBlocks(heldCharactersMax = HELD_CHARACTERS_MAX): SerialBlocks {
  const state: State = {
    lanes: new Map(),
    candidates: new Map(),
    held: 0,
    heldMax: heldCharactersMax,
    over: false,
  }
  return { push: (part) => pushPart(state, part) }
}

/** Cost of a held block in addition to its characters. */
const HELD_BLOCK_COST = 64

interface Waiting {
  readonly parts: StreamPart[]
  ended: boolean
}

/** The blocks of one candidate: one open, the others in the order they opened. */
interface Lane {
  open: number | undefined
  readonly waiting: Map<number, Waiting>
}

interface State {
  readonly lanes: Map<number, Lane>
  /** Candidate of every block that is open or waiting. */
  readonly candidates: Map<number, number>
  held: number
  readonly heldMax: number
  over: boolean
}

function pushPart(state: State, part: StreamPart): readonly StreamPart[] {
  if (state.over) return []
  switch (part.type) {
    case 'block-start':
      return start(state, part)
    case 'text-delta':
    case 'arguments-delta':
    case 'signature':
    case 'citation':
    case 'logprobs':
      return inside(state, part)
    case 'block-end':
      return end(state, part)
    case 'finish':
      return [...closeLane(state, part.candidate), part]
    case 'end':
    case 'error':
      state.over = true
      return [...[...state.lanes.keys()].flatMap((candidate) => closeLane(state, candidate)), part]
    case 'start':
    case 'usage':
    case 'ping':
      return [part]
  }
}

type BlockPart = Extract<StreamPart, { readonly block: number }>

function start(state: State, part: Extract<StreamPart, { type: 'block-start' }>): readonly StreamPart[] {
  const lane = laneOf(state, part.candidate)
  state.candidates.set(part.block, part.candidate)
  if (lane.open === undefined) {
    lane.open = part.block
    return [part]
  }
  lane.waiting.set(part.block, { parts: [part], ended: false })
  return holdMore(state, HELD_BLOCK_COST)
}

function laneOf(state: State, candidate: number): Lane {
  const known = state.lanes.get(candidate)
  if (known !== undefined) return known
  const lane: Lane = { open: undefined, waiting: new Map() }
  state.lanes.set(candidate, lane)
  return lane
}

/** A part for a block that never opened, or has closed, is dropped. */
function inside(state: State, part: BlockPart): readonly StreamPart[] {
  const candidate = state.candidates.get(part.block)
  if (candidate === undefined) return []
  const lane = laneOf(state, candidate)
  if (lane.open === part.block) return [part]
  const waiting = lane.waiting.get(part.block)
  if (waiting === undefined) return []
  hold(waiting, part)
  return holdMore(state, 'text' in part ? part.text.length : HELD_BLOCK_COST)
}

function holdMore(state: State, characters: number): readonly StreamPart[] {
  state.held += characters
  if (state.held <= state.heldMax) return []
  for (const lane of state.lanes.values()) lane.waiting.clear()
  return pushPart(state, {
    type: 'error',
    error: brokenStream('the upstream sent more overlapping content than can be held'),
  })
}

/** Consecutive deltas of one kind are held as one. */
function hold(waiting: Waiting, part: BlockPart): void {
  const last = waiting.parts.at(-1)
  if ('text' in part && last !== undefined && 'text' in last && last.type === part.type) {
    waiting.parts[waiting.parts.length - 1] = { ...part, text: last.text + part.text }
  } else waiting.parts.push(part)
}

function end(state: State, part: Extract<StreamPart, { type: 'block-end' }>): readonly StreamPart[] {
  const candidate = state.candidates.get(part.block)
  if (candidate === undefined) return []
  const lane = laneOf(state, candidate)
  if (lane.open === part.block) {
    state.candidates.delete(part.block)
    lane.open = undefined
    return [part, ...promote(state, lane)]
  }
  const waiting = lane.waiting.get(part.block)
  if (waiting !== undefined) waiting.ended = true
  return []
}

/** Releases waiting blocks in order, finished ones whole, up to the first that is still open. */
function promote(state: State, lane: Lane): readonly StreamPart[] {
  const out: StreamPart[] = []
  while (lane.open === undefined) {
    const [first] = lane.waiting
    if (first === undefined) break
    const [block, next] = first
    lane.waiting.delete(block)
    for (const part of next.parts) state.held -= 'text' in part ? part.text.length : HELD_BLOCK_COST
    addAll(out, next.parts)
    if (next.ended) {
      state.candidates.delete(block)
      out.push({ type: 'block-end', block })
    } else lane.open = block
  }
  return out
}

/** Every block is closed, whatever the upstream omitted. */
function closeLane(state: State, candidate: number): readonly StreamPart[] {
  const lane = state.lanes.get(candidate)
  if (lane === undefined) return []
  const out: StreamPart[] = []
  while (lane.open !== undefined) addAll(out, end(state, { type: 'block-end', block: lane.open }))
  return out
}
