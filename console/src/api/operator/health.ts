import { queryOptions } from '@tanstack/react-query'
import { client, dataOf } from '../client.ts'

/** Current traffic, the instances, and what waits for a decision. */
export const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: ({ signal }) => readHealth(signal),
})

function readHealth(signal: AbortSignal) {
  return dataOf(client.GET('/api/v1/admin/health', { signal }))
}

export type Health = Awaited<ReturnType<typeof readHealth>>

/** The findings of the gateway's self-check. */
export const findingsQuery = queryOptions({
  queryKey: ['findings'],
  queryFn: ({ signal }) => readFindings(signal),
})

function readFindings(signal: AbortSignal) {
  return dataOf(client.GET('/api/v1/admin/findings', { signal }))
}

export type Finding = Awaited<ReturnType<typeof readFindings>>[number]
