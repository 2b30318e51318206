import { queryOptions } from '@tanstack/react-query'
import { actingFor, client, dataOf } from './client.ts'

/** The alerts sent to the account, newest first: low Credits, failures, payments. */
export const alertsQuery = (organisation?: string) =>
  queryOptions({
    queryKey: ['alerts', organisation ?? ''],
    queryFn: ({ signal }) => readAlerts(organisation, signal),
  })

function readAlerts(organisation: string | undefined, signal: AbortSignal) {
  return dataOf(
    client.GET('/api/v1/user/user/alerts', { params: { header: actingFor(organisation) }, signal }),
  )
}

export type Alert = Awaited<ReturnType<typeof readAlerts>>['alerts'][number]

/** Resolves to the number of deliveries that were started. */
export const testAlerts = (organisation?: string) =>
  dataOf(client.POST('/api/v1/user/user/alerts/test', { params: { header: actingFor(organisation) } }))
