import { queryOptions } from '@tanstack/react-query'
import { actingFor, answerOf, client } from './client.ts'
import type { paths } from './generated.d.ts'

export type CallFilter = NonNullable<paths['/api/v1/user/user/logs']['get']['parameters']['query']>

export const callsQuery = (filter: CallFilter, organisation?: string) =>
  queryOptions({
    queryKey: ['calls', organisation ?? '', filter],
    queryFn: ({ signal }) => readCalls(filter, { organisation, signal }),
  })

/** One page of the log, newest first. */
export function readCalls(
  filter: CallFilter,
  { organisation, signal }: { readonly organisation: string | undefined; readonly signal: AbortSignal },
) {
  return answerOf(
    client.GET('/api/v1/user/user/logs', {
      params: { query: filter, header: actingFor(organisation) },
      signal,
    }),
  )
}

export type Call = Awaited<ReturnType<typeof readCalls>>['data'][number]
