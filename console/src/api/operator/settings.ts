import { queryOptions } from '@tanstack/react-query'
import { client, dataOf } from '../client.ts'

/** What holds for the whole platform. */
export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: ({ signal }) => dataOf(client.GET('/api/v1/admin/settings', { signal })),
})
