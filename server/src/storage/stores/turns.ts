/**
 * Stored responses, so that a client can continue from them or read them again (docs/reference/contract.md#4.2). Rows
 * belong to the API key that made them; they are not visible to others. They are kept for a limited time from their
 * last use, and their content is encrypted at rest like a credential.
 */
import type { ChainId, KeyId, ModelId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/json.ts'

export interface StoredTurn {
  readonly keyId: KeyId
  readonly responseId: string
  /** The response it continues. */
  readonly previousId: string | undefined
  readonly modelId: ModelId
  readonly createdAt: number
  readonly expiresAt: number
  readonly content: TurnContent
}

export type TurnContent =
  /** Stored here: JSON text of the client's input and the model's answer. */
  | { readonly kind: 'kept'; readonly body: string }
  /** Stored by the upstream that answered; `place` names the account there, `chainId` a chain to it. */
  | {
      readonly kind: 'upstream'
      readonly place: string
      readonly chainId: ChainId
      /** Set if it is made in the background: its task, and the response object as created. */
      readonly background?: { readonly taskId: string; readonly shown: JsonObject }
    }

/** One step of a conversation, without its content. */
export interface TurnLink {
  readonly responseId: string
  readonly previousId: string | undefined
  readonly place: string | undefined
  /** Bytes stored here; 0 if the upstream stores all of it, which is never the case for a background response. */
  readonly bytes: number
}

/** A long body may be passed as UTF-8 in pieces, which are not changed afterwards. */
export interface NewTurn extends Omit<StoredTurn, 'content'> {
  readonly content: TurnContent | { readonly kind: 'kept'; readonly body: readonly Uint8Array[] }
}

export interface TurnStore {
  /** All in one transaction; an existing response is replaced. */
  put(turns: readonly NewTurn[]): Promise<void>
  /** Extends the retention of a conversation with its newest turn. */
  extend(keyId: KeyId, responseIds: readonly string[], expiresAt: number): Promise<void>
  /** undefined for another key's response and for an expired one. */
  find(keyId: KeyId, responseId: string, at: number): Promise<StoredTurn | undefined>
  /** The response and what it continues, newest first, at most `limit` links; ends where a link is missing. */
  lineage(
    keyId: KeyId,
    responseId: string,
    options: { readonly at: number; readonly limit: number },
  ): Promise<readonly TurnLink[]>
  /** Bodies of kept turns by response id. */
  readBodies(keyId: KeyId, responseIds: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** False when there was none. */
  remove(keyId: KeyId, responseId: string): Promise<boolean>
  /**
   * Removes what has expired, and the oldest kept turns while all of them together exceed `bytesMax`; at most `limit`
   * rows of either. Returns how many were removed.
   */
  expire(options: { readonly at: number; readonly bytesMax: number; readonly limit: number }): Promise<number>
}
