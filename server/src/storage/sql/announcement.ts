/** Announcements as they travel between instances. */
import { accountId, chainId } from '../../core/ids.ts'
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import { parseStored } from './stored-json.ts'
import type { Announcement } from '../announcement.ts'

export function encodeAnnouncement(change: Announcement): string {
  return JSON.stringify(change)
}

/** What a newer or older instance says and this one does not know is taken as "anything may have changed". */
export function decodeAnnouncement(body: string): Announcement {
  const value = parseStored<JsonValue>(body)
  if (!isJsonObject(value)) return { kind: 'everything' }
  if (value['kind'] === 'catalogue') return { kind: 'catalogue' }
  if (value['kind'] === 'key' && typeof value['hash'] === 'string') {
    return { kind: 'key', hash: value['hash'] }
  }
  if (value['kind'] === 'account' && typeof value['accountId'] === 'string') {
    return { kind: 'account', accountId: accountId(value['accountId']) }
  }
  if (value['kind'] === 'video' && typeof value['id'] === 'string') {
    return { kind: 'video', id: value['id'] }
  }
  if (value['kind'] === 'chain' && typeof value['chainId'] === 'number') {
    return { kind: 'chain', chainId: chainId(value['chainId']) }
  }
  return { kind: 'everything' }
}
