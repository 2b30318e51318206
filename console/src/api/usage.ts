import { queryOptions } from '@tanstack/react-query'
import { actingFor, client, dataOf } from './client.ts'
import type { paths } from './generated.d.ts'

export type UsageQuestion = NonNullable<paths['/api/v1/user/user/usage']['get']['parameters']['query']>

export const usageQuery = (question: UsageQuestion, organisation?: string) =>
  queryOptions({
    queryKey: ['usage', organisation ?? '', question],
    queryFn: ({ signal }) => readUsage(question, { organisation, signal }),
  })

export function readUsage(
  question: UsageQuestion,
  { organisation, signal }: { readonly organisation: string | undefined; readonly signal: AbortSignal },
) {
  return dataOf(
    client.GET('/api/v1/user/user/usage', {
      params: { query: question, header: actingFor(organisation) },
      signal,
    }),
  )
}

export type Usage = Awaited<ReturnType<typeof readUsage>>
