/** How one protocol's answers are watched: everything protocol-specific about the taps, as data. */

/** What a value found in an answer means. */
export type AnswerRole =
  /** The model's name: replaced by the platform id. */
  | 'model'
  /** A usage object. */
  | 'usage'
  /** Usage reported before anything was generated; its output counter is a placeholder. */
  | 'usage-at-start'
  /** An error object, unless it is null. */
  | 'error'
  /** The event's type, where the protocol names its events. */
  | 'type'
  /**
   * The answer's id, and the event's number in the stream: the gateway's own failures must contain both (`breaks.ts`).
   */
  | 'answer-id'
  | 'sequence-number'
  /** Id of the message that starts: a second one shows that another answer was spliced into this one. */
  | 'message-id'
  /** Generated text of any sort (answer, reasoning, refusal, tool name and arguments): meaningful unless empty. */
  | 'text'
  /** A JSON value the model generated; counted as text. */
  | 'json'
  /** The same text once more, at the end: counted only where none came before. */
  | 'text-again'
  /** Its presence means that generation has begun, unless it is null or false. */
  | 'begun'
  /** Type of an opening block; those in `quietBlocks` are not meaningful yet. */
  | 'block-type'
  | 'choice'
  | 'choice-index'
  /** Why the answer, or one choice of it, ended; null until then. */
  | 'finish'
  /** A generated image, unless it is null. */
  | 'image'
  /** A part or item that may turn out to be an image when it ends, and the fields that decide it. */
  | 'item'
  | 'item-type'
  | 'item-result'
  | 'item-image-type'
  | 'item-thought'
  /** A result that is an image, unless it is empty. */
  | 'item-image'

/** What an event of a given type means. */
export type EventRule =
  /** Held back: another chain may still answer. */
  | 'prelude'
  | 'content'
  /** Begins a block: meaningful unless the block's type is quiet. */
  | 'block-start'
  /** A finished item: an image in it counts now. */
  | 'item-done'
  /** The same as `item-done`, and the stream may end after it. */
  | 'item-finish'
  /** A part of an unfinished image. */
  | 'image-part'
  /** The protocol's terminator after a clean end. */
  | 'terminator'
  | 'failure'

export interface AnswerTable {
  readonly stream: {
    readonly fields: Readonly<Record<string, AnswerRole>>
    /** Rules by event type; empty where events have none. */
    readonly events: Readonly<Record<string, EventRule>>
    /** Types with this prefix that are not listed are content; all others are skipped. */
    readonly contentPrefix: string | undefined
    /** Block types that open before anything was generated. */
    readonly quietBlocks: readonly string[]
    /**
     * `[DONE]`: ends a clean stream, or must be added to one that lacks it (docs/reference/contract.md#6.2-03).
     * `accepted`: ends it, and is never added. `none`: it has no meaning.
     */
    readonly done: 'terminator' | 'added' | 'accepted' | 'none'
    /** `finish` alone ends the stream well, because there is no event for it. */
    readonly finishTerminates: boolean
  }
  readonly body: { readonly fields: Readonly<Record<string, AnswerRole>> }
  /** Items of this type, with a result, are generated images. */
  readonly imageItemType: string | undefined
}

type ItemRole = Extract<AnswerRole, `item-${string}`>

/** Decides from the values inside one part or item of an answer whether it is a generated image. */
export class ImageItem {
  #isImage = false
  #hasResult = false
  #isThought = false

  /**
   * Called for each value inside the item; `holds`: it has the value that its role looks for (an image's type, a
   * result, a thought).
   */
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
        // There may be an image although the address is null.
        this.#isImage ||= holds
        this.#hasResult ||= holds
        return
      case 'item-thought':
        this.#isThought = holds
        return
    }
  }

  /** The item has ended: returns whether it was an image made for the client, and resets for the next one. */
  close(): boolean {
    const isImage = this.#isImage && this.#hasResult && !this.#isThought
    this.#isImage = false
    this.#hasResult = false
    this.#isThought = false
    return isImage
  }
}
