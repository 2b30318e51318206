/**
 * The blocks of one stream as a decoder opens and closes them: numbered in order of first appearance, each closed once
 * (the invariants of `canonical/response.ts`). Shared by the decoders; holds one entry per open block and nothing of
 * their text.
 */
import type { BlockStart, StreamPart } from '../canonical/response.ts'

/** More blocks than any answer has; an upstream that opens more is broken. */
export const BLOCKS_MAX = 10_000

export interface OpenBlocks {
  /** Number of the new block; `undefined` when there are too many. */
  open(candidate: number, kind: BlockStart): number | undefined
  close(block: number): void
  closeAll(): void
}

export function openBlocks(emit: (part: StreamPart) => void): OpenBlocks {
  const open = new Set<number>()
  let next = 0
  function close(block: number): void {
    if (open.delete(block)) emit({ type: 'block-end', block })
  }
  return {
    open(candidate, kind) {
      if (next >= BLOCKS_MAX) return undefined
      const block = next
      next += 1
      open.add(block)
      emit({ type: 'block-start', block, candidate, kind })
      return block
    },
    close,
    closeAll() {
      for (const block of open) close(block)
    },
  }
}
