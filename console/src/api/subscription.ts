import { queryOptions } from '@tanstack/react-query'
import { actingFor, client, dataOf } from './client.ts'

/** The plan of an account and what is left of its quota. */
export const subscriptionQuery = (organisation?: string) =>
  queryOptions({
    queryKey: ['subscription', organisation ?? ''],
    queryFn: ({ signal }) => readSubscription(organisation, signal),
  })

function readSubscription(organisation: string | undefined, signal: AbortSignal) {
  return dataOf(
    client.GET('/api/v1/user/user/subscription', {
      params: { header: actingFor(organisation) },
      signal,
    }),
  )
}

export type Subscription = Awaited<ReturnType<typeof readSubscription>>
