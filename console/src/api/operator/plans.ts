import { queryOptions } from '@tanstack/react-query'
import { client, dataOf } from '../client.ts'

/** The plans on sale. */
export const plansQuery = queryOptions({
  queryKey: ['plans'],
  queryFn: ({ signal }) => dataOf(client.GET('/api/v1/admin/plans', { signal })),
})
