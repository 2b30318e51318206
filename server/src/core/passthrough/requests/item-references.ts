/**
 * Items of a conversation that are only named by id: an earlier answer gave them to the client (responses,
 * `item_reference`).
 */
import type { Span } from '../splice.ts'

export interface ItemReference extends Span {
  readonly id: string
}

/** No id given out is longer. */
export const ITEM_ID_CHARACTERS_MAX = 256

/** What is known about the item that is being read. A value inside it comes before the item itself ends. */
export class ItemReferencesReading {
  readonly #found: ItemReference[] = []
  #id: string | undefined
  #type: string | undefined
  #role = false

  /** undefined: not a string, or too long for an id. */
  id(text: string | undefined): void {
    this.#id = text
  }

  type(text: string | undefined): void {
    this.#type = text
  }

  role(): void {
    this.#role = true
  }

  /** The item has ended. Its type may be left out; so may a message's, which has a role. */
  end({ start, end }: Span): void {
    const isReference = this.#type === 'item_reference' || (this.#type === undefined && !this.#role)
    if (isReference && this.#id !== undefined) this.#found.push({ id: this.#id, start, end })
    this.#id = undefined
    this.#type = undefined
    this.#role = false
  }

  references(): readonly ItemReference[] {
    return this.#found.length === 0 ? NO_REFERENCES : this.#found
  }
}

export const NO_REFERENCES: readonly ItemReference[] = []
