/** Queries of the overview, except spend. */
import { queryOptions } from '@tanstack/react-query'
import { callsQuery } from '../api/calls.ts'
import { client, dataOf } from '../api/client.ts'

const LAST_CALLS = 7

export const lastCallsQuery = (organisation: string | undefined) =>
  callsQuery({ limit: LAST_CALLS }, organisation)

export const announcementsQuery = queryOptions({
  queryKey: ['announcements'],
  queryFn: ({ signal }) => dataOf(client.GET('/api/v1/user/user/announcements', { signal })),
})
