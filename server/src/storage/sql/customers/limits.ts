import type { Kysely } from 'kysely'
import type { LimitReader } from '../../stores/customers.ts'
import { decodeLimitState } from '../calls/limit-state-row.ts'
import type { Schema } from '../schema.ts'

export function createLimitReader(reader: Kysely<Schema>): LimitReader {
  return {
    async read(subjects) {
      if (subjects.length === 0) return new Map()
      const rows = await reader
        .selectFrom('limit_states')
        .selectAll()
        .where('subject', 'in', subjects)
        .execute()
      const states = rows.map((row) => decodeLimitState({ ...row }))
      return new Map(states.map((state) => [state.subject, state]))
    },
  }
}
