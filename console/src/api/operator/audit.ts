import { infiniteQueryOptions } from '@tanstack/react-query'
import { answerOf, client, dataOf } from '../client.ts'
import type { paths } from '../generated.d.ts'

type Question = NonNullable<paths['/api/v1/admin/audit']['get']['parameters']['query']>
export type AuditFilter = Omit<Question, 'cursor'>

/** Entries of the audit log, newest first. */
export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['audit', filter],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      readAudit({ ...filter, ...(pageParam === '' ? {} : { cursor: pageParam }) }, signal),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  })

function readAudit(query: Question, signal: AbortSignal) {
  return answerOf(client.GET('/api/v1/admin/audit', { params: { query }, signal }))
}

export type AuditEntry = Awaited<ReturnType<typeof readAudit>>['data'][number]

/** The whole log, oldest first, one JSON object a line. */
export const exportAudit = (): Promise<Blob> =>
  answerOf(client.GET('/api/v1/admin/audit/export', { parseAs: 'blob' }))

/** Recomputes every balance, hold, charge and entry. */
export const verifyBooks = () => dataOf(client.POST('/api/v1/admin/verify'))
