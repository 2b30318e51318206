/** How one protocol's answers are watched: everything protocol-specific about the taps, as data. */

/** What a value found in an answer means. */
export type AnswerRole =
  /** The model's name: replaced by the platform id. */
  | 'model'
  /** A usage object. */
  | 'usage'
  /** Usage told before anything was generated; its output counter is a placeholder. */
  | 'usage-at-start'
  /** An error object, unless it is null. */
  | 'error'
  /** The event's type, where the protocol names its events. */
  | 'type'
  /** The answer's id, and the event's place in the stream: what a failure of ours must name (`breaks.ts`). */
  | 'answer-id'
  | 'sequence-number'
  /** Id of the message that starts: a second one is another answer, spliced into this one. */
  | 'message-id'
  /** Generated text of any sort (answer, reasoning, refusal, tool name and arguments): meaningful unless empty. */
  | 'text'
  /** A JSON value the model generated; counted as the text it is. */
  | 'json'
  /** The same text once more, at the end: counted only where none came before. */
  | 'text-again'
  /** Its presence means that generation has begun, unless it is null or false. */
  | 'begun'
  /** Type of an opening block; those in `quietBlocks` say nothing yet. */
  | 'block-type'
  | 'choice'
  | 'choice-index'
  /** Why the answer, or one choice of it, ended; null while it goes on. */
  | 'finish'
  /** A generated image, unless it is null. */
  | 'image'
  /** A part or item that may turn out to be an image when it ends, and what it says about that. */
  | 'item'
  | 'item-type'
  | 'item-result'
  | 'item-image-type'
  | 'item-thought'
  /** A result that is an image by itself, unless it is empty. */
  | 'item-image'

/** What an event of a given type means. */
export type EventRule =
  /** Held back: the upstream may still fail over. */
  | 'prelude'
  | 'content'
  /** Begins a block: meaningful unless the block's type is quiet. */
  | 'block-start'
  /** A finished item: an image in it counts now. */
  | 'item-done'
  /** The same, and the stream may end after it. */
  | 'item-finish'
  /** Part of an image that is under way. */
  | 'image-part'
  /** The protocol's terminator after a clean end. */
  | 'terminator'
  | 'failure'

export interface AnswerTable {
  readonly stream: {
    readonly fields: Readonly<Record<string, AnswerRole>>
    /** Rules by event type; empty where events have none. */
    readonly events: Readonly<Record<string, EventRule>>
    /** Types that begin so, and are not named, are content; all others are skipped. */
    readonly contentPrefix: string | undefined
    /** Block types that open before anything was generated. */
    readonly quietBlocks: readonly string[]
    /**
     * `[DONE]`: ends a clean stream, or must be added to one that lacks it (docs/reference/contract.md#6.2-03).
     * `accepted`: ends it, and is never added. `none`: says nothing.
     */
    readonly done: 'terminator' | 'added' | 'accepted' | 'none'
    /** `finish` alone ends the stream well: where no event of its own does. */
    readonly finishTerminates: boolean
  }
  readonly body: { readonly fields: Readonly<Record<string, AnswerRole>> }
  /** Items of this type, with a result, are generated images. */
  readonly imageItemType: string | undefined
}

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
