/** The content of a call whose response is stored here (docs/decisions/0007-kept-responses.md). */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import type { CallLogRow } from '../../core/ledger/log-row.ts'
import { itemsOfTurn, readTurn, responseIdOf } from '../../core/protocols/responses/answer/stored-turn.ts'
import type { Storage } from '../../storage/storage.ts'
import type { TurnLink } from '../../storage/stores/turns.ts'

/** Limit for one conversation: reading this much takes a few milliseconds. */
const SHOWN_BYTES_MAX = 1024 * 1024
const SHOWN_TURNS_MAX = 200

export interface KeptConversation {
  /** Items in the Responses protocol's form, oldest first. */
  readonly items: readonly JsonObject[]
  /** False: the beginning is omitted, or was removed. */
  readonly complete: boolean
}

/** undefined: no content of that call is stored here. */
export async function readKeptConversation(
  { turns }: Pick<Storage, 'turns'>,
  { callId, keyId }: Pick<CallLogRow, 'callId' | 'keyId'>,
  at: number,
): Promise<KeptConversation | undefined> {
  if (keyId === undefined) return undefined
  const links = await turns.lineage(keyId, responseIdOf(callId), { at, limit: SHOWN_TURNS_MAX })
  const [newest] = links
  if (newest === undefined || newest.place !== undefined) return undefined
  const shown = latestOf(links)
  const ids = shown.map(({ responseId }) => responseId).toReversed()
  const bodies = shown.length === 0 ? new Map<string, string>() : await turns.readBodies(keyId, ids)
  return {
    items: ids.flatMap((id) => itemsOf(bodies.get(id))),
    complete: shown.length === links.length && links.at(-1)?.previousId === undefined,
  }
}

/** The newest turns that together fit within the limit. */
function latestOf(links: readonly TurnLink[]): readonly TurnLink[] {
  let left = SHOWN_BYTES_MAX
  const first = links.findIndex(({ bytes }) => (left -= bytes) < 0)
  return first < 0 ? links : links.slice(0, first)
}

/** Empty for a turn that was removed between the two reads. */
function itemsOf(body: string | undefined): readonly JsonObject[] {
  if (body === undefined) return []
  const turn = readTurn(JSON.parse(body) as JsonValue)
  if (turn === undefined) throw new Error('a kept turn cannot be read')
  return itemsOfTurn(turn).filter(isJsonObject)
}
