import { queryOptions } from '@tanstack/react-query'
import { actingFor, answerOf, client, dataOf } from './client.ts'
import type { paths } from './generated.d.ts'

export type CallFilter = NonNullable<paths['/api/v1/user/user/logs']['get']['parameters']['query']>

export const callsQuery = (filter: CallFilter, organisation?: string) =>
  queryOptions({
    queryKey: ['calls', organisation ?? '', filter],
    queryFn: ({ signal }) => readCalls(filter, { organisation, signal }),
  })

interface Asking {
  readonly organisation: string | undefined
  readonly signal: AbortSignal
}

/** The totals of all calls that match a filter. */
export const sumCalls = (filter: Omit<CallFilter, 'limit' | 'cursor'>, { organisation, signal }: Asking) =>
  dataOf(
    client.GET('/api/v1/user/user/logs/totals', {
      params: { query: filter, header: actingFor(organisation) },
      signal,
    }),
  )

/** One page of the log, newest first. */
export function readCalls(filter: CallFilter, { organisation, signal }: Asking) {
  return answerOf(
    client.GET('/api/v1/user/user/logs', {
      params: { query: filter, header: actingFor(organisation) },
      signal,
    }),
  )
}

/** The stored conversation of a call, if the person who made it had it stored. */
export const conversationQuery = (id: string, organisation: string | undefined) =>
  queryOptions({
    queryKey: ['conversation', organisation ?? '', id],
    queryFn: ({ signal }) =>
      dataOf(
        client.GET('/api/v1/user/user/logs/{request_id}/conversation', {
          params: { path: { request_id: id }, header: actingFor(organisation) },
          signal,
        }),
      ),
  })

/** The calls that match a filter, as a file. */
export const exportCalls = (
  filter: CallFilter,
  format: 'csv' | 'ndjson',
  organisation?: string,
): Promise<Blob> =>
  answerOf(
    client.GET('/api/v1/user/user/logs/export', {
      params: { query: { ...filter, format }, header: actingFor(organisation) },
      parseAs: 'blob',
    }),
  )

export type Call = Awaited<ReturnType<typeof readCalls>>['data'][number]

type ExplainQuestion =
  paths['/api/v1/user/user/explain']['post']['requestBody']['content']['application/json']

/** Explains what would happen to a call now; nothing is sent or charged. */
export const explainOwn = (body: ExplainQuestion, organisation: string | undefined) =>
  dataOf(client.POST('/api/v1/user/user/explain', { params: { header: actingFor(organisation) }, body }))
