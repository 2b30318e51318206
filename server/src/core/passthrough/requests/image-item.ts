import type { AnswerRole } from '../answers/answer-table.ts'

type ItemRole = Extract<AnswerRole, `item-${string}`>

/** What the values inside one part or item of an answer say about its being a generated image. */
export class ImageItem {
  #isImage = false
  #hasResult = false
  #isThought = false

  /** Told of each value inside the item: whether it says what its role asks (an image's type, a result, a thought). */
  see(role: ItemRole, holds: boolean): void {
    switch (role) {
      case 'item-type':
        this.#isImage = holds
        return
      case 'item-result':
        this.#hasResult = holds
        return
      case 'item-image-type':
        this.#isImage = holds
        this.#hasResult = true
        return
      case 'item-image':
        // Beside an address that is null there may be a picture.
        this.#isImage ||= holds
        this.#hasResult ||= holds
        return
      case 'item-thought':
        this.#isThought = holds
        return
    }
  }

  /** The item is over: whether it was an image made for the client. Ready for the next one. */
  close(): boolean {
    const isImage = this.#isImage && this.#hasResult && !this.#isThought
    this.#isImage = false
    this.#hasResult = false
    this.#isThought = false
    return isImage
  }
}
