/** API keys between their table, `Key` and the `KeyRow` of a hot batch. */
import type { KeyRow } from '../../../core/ledger/hot-rows.ts'
import { accountId, keyId, memberId, type ModelId } from '../../../core/ids.ts'
import { decodePolicy } from './account-row.ts'
import { memoizeByText, parseStored } from '../stored-json.ts'
import { numberOf, optionalNumberOf, optionalTextOf, type StoredRow, textOf } from '../table.ts'
import type { Key } from '../../stores/keys.ts'

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
    name: textOf(row, 'name'),
    hash: textOf(row, 'hash'),
    hint: textOf(row, 'hint'),
    createdAt: numberOf(row, 'created_at'),
    group: optionalTextOf(row, 'group_name'),
    models: decodeModels(textOf(row, 'models')),
    ipAllow: decodeAddresses(textOf(row, 'ip_allow')),
  }
}

const decodeModels = memoizeByText((text) => parseStored<readonly ModelId[]>(text))
const decodeAddresses = memoizeByText((text) => parseStored<readonly string[]>(text))

function decodeStatus(text: string): Key['status'] {
  if (text === 'enabled' || text === 'disabled' || text === 'deleted') return text
  throw new Error(`an API key has the unknown status ${text}`)
}
