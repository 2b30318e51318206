/**
 * Stored responses, so that a client can continue from them or read them again (docs/reference/contract.md#4.2). Rows
 * belong to the API key that made them; nobody else sees them. They live for a bounded time from their last use, and
 * their content is sealed at rest like a credential.
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
  /** Kept here: JSON text of what the client said and the model answered. */
  | { readonly kind: 'kept'; readonly body: string }
  /** Kept by the upstream that answered; `place` names the account there, `chainId` a chain to it. */
  | {
      readonly kind: 'upstream'
      readonly place: string
      readonly chainId: ChainId
      /** It is made in the background: the task it ends with, and the response object as it was created. */
      readonly background?: { readonly taskId: string; readonly shown: JsonObject }
    }

/** One step of a conversation, without its content. */
export interface TurnLink {
  readonly responseId: string
  readonly previousId: string | undefined
  readonly place: string | undefined
  /** Bytes that are kept here; 0 if the upstream keeps all of it, which is never so for a background response. */
  readonly bytes: number
}

/** A long body may be passed as UTF-8 in pieces, which are not changed afterwards. */
export interface NewTurn extends Omit<StoredTurn, 'content'> {
  readonly content: TurnContent | { readonly kind: 'kept'; readonly body: readonly Uint8Array[] }
}

export interface TurnStore {
  /** All in one transaction; a response that is there already is replaced. */
  put(turns: readonly NewTurn[]): Promise<void>
  /** Extends the life of a conversation with its newest turn. */
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
   * Removes what has expired, and the oldest kept turns while all of them together hold more than `bytesMax`; at most
   * `limit` rows of either. Returns how many went.
   */
  expire(options: { readonly at: number; readonly bytesMax: number; readonly limit: number }): Promise<number>
}
