/** Verification requests; what people state about themselves is encrypted. */
import type { Insertable, Kysely, Selectable, Transaction } from 'kysely'
import { accountId } from '../../../core/ids.ts'
import type {
  VerificationDecision,
  VerificationDocument,
  VerificationRequest,
  VerificationStore,
} from '../../stores/customers.ts'
import type { SecretBox } from '../../secret-box.ts'
import type { AnnouncedWrite, Written } from '../announced-write.ts'
import { pageLimit } from '../page.ts'
import type { VerificationRequestsTable } from '../schema/customers.ts'
import type { Schema } from '../schema.ts'
import { parseStored } from '../stored-json.ts'
import type { Announcement } from '../../announcement.ts'

export interface VerificationStoreOptions {
  readonly reader: Kysely<Schema>
  readonly write: AnnouncedWrite
  readonly secrets: SecretBox
}

export function createVerificationStore({
  reader,
  write,
  secrets,
}: VerificationStoreOptions): VerificationStore {
  return {
    submit: (request) =>
      write(async (transaction) => {
        await transaction.insertInto('verification_requests').values(encode(secrets, request)).execute()
        return { value: undefined, changes: [] }
      }),

    async find(id) {
      const row = await reader
        .selectFrom('verification_requests')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirst()
      return row === undefined ? undefined : decode(secrets, row)
    },

    async list({ accountId: account, status, limit, after }) {
      let query = reader.selectFrom('verification_requests').selectAll()
      if (account !== undefined) query = query.where('account_id', '=', account)
      if (status !== undefined) query = query.where('status', '=', status)
      if (after !== undefined) query = query.where('id', '<', after)
      const rows = await query.orderBy('id', 'desc').limit(pageLimit(limit)).execute()
      return rows.map((row) => decode(secrets, row))
    },

    decide: (decision) => write((transaction) => decideIn(transaction, decision)),
  }
}

async function decideIn(
  transaction: Transaction<Schema>,
  { id, status, by, reason, at, level }: VerificationDecision,
): Promise<Written<boolean>> {
  const decided = await transaction
    .updateTable('verification_requests')
    .set({ status, decided_at: at, decided_by: by, reason: reason ?? null })
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .returning('account_id')
    .executeTakeFirst()
  if (decided === undefined) return { value: false, changes: [] }
  if (level === undefined) return { value: true, changes: [] }
  await transaction
    .updateTable('accounts')
    .set({ verification: level })
    .where('id', '=', decided.account_id)
    .execute()
  const changes: readonly Announcement[] = [{ kind: 'account', accountId: accountId(decided.account_id) }]
  return { value: true, changes }
}

const purposeOf = (id: string): string => `verification:${id}`

function encode(secrets: SecretBox, request: VerificationRequest): Insertable<VerificationRequestsTable> {
  return {
    id: request.id,
    account_id: request.accountId,
    kind: request.kind,
    status: request.status,
    submitted_at: request.submittedAt,
    decided_at: request.decidedAt ?? null,
    decided_by: request.decidedBy ?? null,
    reason: request.reason ?? null,
    sealed: secrets.seal(JSON.stringify(request.statement), purposeOf(request.id)),
    documents: JSON.stringify(request.documents),
  }
}

function decode(secrets: SecretBox, row: Selectable<VerificationRequestsTable>): VerificationRequest {
  return {
    id: row.id,
    accountId: accountId(row.account_id),
    kind: row.kind === 'enterprise' ? 'enterprise' : 'personal',
    status: decodeStatus(row.status),
    submittedAt: Number(row.submitted_at),
    decidedAt: row.decided_at === null ? undefined : Number(row.decided_at),
    decidedBy: row.decided_by ?? undefined,
    reason: row.reason ?? undefined,
    statement: parseStored<Record<string, string>>(secrets.open(row.sealed, purposeOf(row.id))),
    documents: parseStored<readonly VerificationDocument[]>(row.documents),
  }
}

function decodeStatus(text: string): VerificationRequest['status'] {
  if (text === 'pending' || text === 'approved' || text === 'rejected' || text === 'withdrawn') return text
  throw new Error(`a verification request has the unknown status ${text}`)
}
