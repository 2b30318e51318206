import { queryOptions } from '@tanstack/react-query'
import { client, dataOf } from '../client.ts'
import type { paths } from '../generated.d.ts'

const NOTICES = '/api/v1/admin/announcements'
export type NoticeBody = paths[typeof NOTICES]['post']['requestBody']['content']['application/json']

/** Includes past and future ones. */
export const noticesQuery = queryOptions({
  queryKey: ['notices'],
  queryFn: ({ signal }) => readNotices(signal),
})

function readNotices(signal: AbortSignal) {
  return dataOf(client.GET(NOTICES, { signal }))
}

export type Notice = Awaited<ReturnType<typeof readNotices>>[number]

export const addNotice = (body: NoticeBody) => dataOf(client.POST(NOTICES, { body }))

export const changeNotice = (id: string, body: NoticeBody) =>
  dataOf(client.PATCH('/api/v1/admin/announcements/{id}', { params: { path: { id } }, body }))

export const removeNotice = (id: string) =>
  dataOf(client.DELETE('/api/v1/admin/announcements/{id}', { params: { path: { id } } }))
