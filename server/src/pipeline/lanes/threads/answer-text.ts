import type { CanonicalResponse } from '../../../core/canonical/response.ts'

/** Everything of a whole answer that was generated as text, as it counts when the upstream reports no usage. */
export function* answerText(candidates: CanonicalResponse['candidates']): Generator<string> {
  for (const { blocks } of candidates) {
    for (const block of blocks) {
      if (block.type === 'tool-call') yield block.name + block.arguments
      else if ('text' in block) yield block.text
    }
  }
}

export function countImages(candidates: CanonicalResponse['candidates']): number {
  let images = 0
  for (const { blocks } of candidates) {
    for (const block of blocks)
      if (block.type === 'media' && block.mediaType.startsWith('image/')) images += 1
  }
  return images
}
