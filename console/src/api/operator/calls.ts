import { queryOptions } from '@tanstack/react-query'
import { answerOf, client } from '../client.ts'
import type { paths } from '../generated.d.ts'

export type AnyCallFilter = NonNullable<paths['/api/v1/admin/logs']['get']['parameters']['query']>

/** Calls of all accounts, newest first. */
export const anyCallsQuery = (filter: AnyCallFilter) =>
  queryOptions({
    queryKey: ['any-calls', filter],
    queryFn: ({ signal }) =>
      answerOf(client.GET('/api/v1/admin/logs', { params: { query: filter }, signal })),
  })
