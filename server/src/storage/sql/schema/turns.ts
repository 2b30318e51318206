import type { Integer } from './columns.ts'

export interface TurnSchema {
  turns: TurnsTable
}

export interface TurnsTable {
  key_id: string
  response_id: string
  previous_id: string | null
  model_id: string
  created_at: Integer
  expires_at: Integer
  /** Sealed JSON; null: the upstream stores it. */
  sealed: string | null
  /** Size of the plain body; 0: the upstream stores it. */
  bytes: Integer
  place: string | null
  chain_id: Integer | null
}
