import { queryOptions } from '@tanstack/react-query'
import { client, dataOf } from '../client.ts'
import type { paths } from '../generated.d.ts'

const GROUPS = '/api/v1/admin/groups'
const GROUP = '/api/v1/admin/groups/{id}'

export type NewGroup = paths[typeof GROUPS]['post']['requestBody']['content']['application/json']
type GroupChange = Omit<NewGroup, 'name'>

/** Groups that keys can be bound to: a protocol and some models. */
export const anyGroupsQuery = queryOptions({
  queryKey: ['any-groups'],
  queryFn: ({ signal }) => readGroups(signal),
})

function readGroups(signal: AbortSignal) {
  return dataOf(client.GET(GROUPS, { signal }))
}

export type AnyGroup = Awaited<ReturnType<typeof readGroups>>[number]

export const addGroup = (body: NewGroup) => dataOf(client.POST(GROUPS, { body }))

export const changeGroup = (name: string, body: GroupChange) =>
  dataOf(client.PATCH(GROUP, { params: { path: { id: name } }, body }))

export const removeGroup = (name: string) => dataOf(client.DELETE(GROUP, { params: { path: { id: name } } }))

/** The newest keys of the group. */
export const groupKeysQuery = (name: string) =>
  queryOptions({ queryKey: ['group-keys', name], queryFn: ({ signal }) => readKeys(name, signal) })

function readKeys(id: string, signal: AbortSignal) {
  return dataOf(client.GET('/api/v1/admin/groups/{id}/keys', { params: { path: { id } }, signal }))
}

export type GroupKey = Awaited<ReturnType<typeof readKeys>>[number]
