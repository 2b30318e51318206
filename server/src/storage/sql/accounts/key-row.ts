/** API keys between their table, `Key` and the `KeyRow` of a hot batch. */
import type { Insertable } from 'kysely'
import { accountId, keyId, type ModelId, memberId } from '../../../core/ids.ts'
import type { KeyRow } from '../../../core/ledger/hot-rows.ts'
import type { Key } from '../../stores/keys.ts'
import type { ApiKeysTable } from '../schema.ts'
import { memoizeByText, parseStored } from '../stored-json.ts'
import { numberOf, optionalNumberOf, optionalTextOf, type StoredRow, textOf } from '../table.ts'
import { decodePolicy } from './account-row.ts'

/** What a hot batch reads of a key. */
export const HOT_KEY_COLUMNS = ['id', 'account_id', 'member_id', 'status', 'expires_at', 'policy'] as const

export function decodeKeyRow(row: StoredRow): KeyRow {
  const policy = optionalTextOf(row, 'policy')
  const member = optionalTextOf(row, 'member_id')
  return {
    id: keyId(textOf(row, 'id')),
    accountId: accountId(textOf(row, 'account_id')),
    memberId: member === undefined ? undefined : memberId(member),
    status: decodeStatus(textOf(row, 'status')),
    expiresAt: optionalNumberOf(row, 'expires_at'),
    policy: policy === undefined ? undefined : decodePolicy(policy),
  }
}

export function decodeKey(row: StoredRow): Key {
  return {
    ...decodeKeyRow(row),
    sessionId: optionalTextOf(row, 'session_id'),
    name: textOf(row, 'name'),
    hash: textOf(row, 'hash'),
    hint: textOf(row, 'hint'),
    createdAt: numberOf(row, 'created_at'),
    group: optionalTextOf(row, 'group_name'),
    models: decodeModels(textOf(row, 'models')),
    ipAllow: decodeAddresses(textOf(row, 'ip_allow')),
  }
}

export function encodeKey(key: Key): Insertable<ApiKeysTable> {
  return {
    id: key.id,
    account_id: key.accountId,
    member_id: key.memberId ?? null,
    session_id: key.sessionId ?? null,
    name: key.name,
    hash: key.hash,
    hint: key.hint,
    status: key.status,
    created_at: key.createdAt,
    expires_at: key.expiresAt ?? null,
    group_name: key.group ?? null,
    models: JSON.stringify(key.models),
    ip_allow: JSON.stringify(key.ipAllow),
    policy: key.policy === undefined ? null : JSON.stringify(key.policy),
  }
}

const decodeModels = memoizeByText((text) => parseStored<readonly ModelId[]>(text))
const decodeAddresses = memoizeByText((text) => parseStored<readonly string[]>(text))

function decodeStatus(text: string): Key['status'] {
  if (text === 'enabled' || text === 'disabled' || text === 'deleted') return text
  throw new Error(`an API key has the unknown status ${text}`)
}
