import { queryOptions } from '@tanstack/react-query'
import { answerOf, client, dataOf } from '../client.ts'
import type { paths } from '../generated.d.ts'

export type AnyCallFilter = NonNullable<paths['/api/v1/admin/logs']['get']['parameters']['query']>

/** Calls of all accounts, newest first. */
export const anyCallsQuery = (filter: AnyCallFilter) =>
  queryOptions({
    queryKey: ['any-calls', filter],
    queryFn: ({ signal }) => readAnyCalls(filter, signal),
  })

export const readAnyCalls = (filter: AnyCallFilter, signal: AbortSignal) =>
  answerOf(client.GET('/api/v1/admin/logs', { params: { query: filter }, signal }))

/** The totals of all calls that match a filter. */
export const sumAnyCalls = (filter: Omit<AnyCallFilter, 'limit' | 'cursor'>, signal: AbortSignal) =>
  dataOf(client.GET('/api/v1/admin/logs/totals', { params: { query: filter }, signal }))

/** The calls that match a filter, as a file. */
export const exportAnyCalls = (filter: AnyCallFilter, format: 'csv' | 'ndjson'): Promise<Blob> =>
  answerOf(
    client.GET('/api/v1/admin/logs/export', { params: { query: { ...filter, format } }, parseAs: 'blob' }),
  )

type ExplainQuestion = paths['/api/v1/admin/explain']['post']['requestBody']['content']['application/json']

/** Explains what would happen to any account's call now; nothing is sent or charged. */
export const explainAny = (body: ExplainQuestion) => dataOf(client.POST('/api/v1/admin/explain', { body }))
