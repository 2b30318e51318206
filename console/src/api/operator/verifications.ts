import { queryOptions } from '@tanstack/react-query'
import { answerOf, client, dataOf } from '../client.ts'

const WAITING_MAX = 50

/** Pending verifications. */
export const requestsQuery = queryOptions({
  queryKey: ['verifications'],
  queryFn: ({ signal }) => readRequests(signal),
})

async function readRequests(signal: AbortSignal) {
  const params = { query: { status: 'pending' as const, limit: WAITING_MAX } }
  return (await answerOf(client.GET('/api/v1/admin/verifications', { params, signal }))).data
}

export type Request = Awaited<ReturnType<typeof readRequests>>[number]

/** Every download is recorded in the audit log. `number` counts from 1. */
export const readDocument = (id: string, number: number): Promise<Blob> =>
  answerOf(
    client.GET('/api/v1/admin/verifications/{id}/documents/{number}', {
      params: { path: { id, number } },
      parseAs: 'blob',
    }),
  )

export const decide = (id: string, verdict: 'approved' | 'rejected', reason: string) =>
  dataOf(
    client.POST('/api/v1/admin/verifications/{id}/decide', {
      params: { path: { id } },
      body: { verdict, ...(reason === '' ? {} : { reason }) },
    }),
  )
