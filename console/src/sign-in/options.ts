import { queryOptions } from '@tanstack/react-query'
import { client, dataOf } from '../api/client.ts'

/** The ways of signing in that the gateway offers. */
export const optionsQuery = queryOptions({
  queryKey: ['sign-in-options'],
  queryFn: ({ signal }) => dataOf(client.GET('/api/v1/user/user/sign-in/options', { signal })),
  staleTime: 60_000,
})
