import { infiniteQueryOptions } from '@tanstack/react-query'
import { answerOf, client, dataOf } from '../client.ts'
import type { paths } from '../generated.d.ts'

const ROWS = 50
type Question = NonNullable<paths['/api/v1/admin/videos']['get']['parameters']['query']>
export type TaskFilter = Pick<Question, 'show' | 'status' | 'model' | 'account_id'>

/** Video tasks of all accounts, newest first. */
export const tasksQuery = (filter: TaskFilter) =>
  infiniteQueryOptions({
    queryKey: ['tasks', filter],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      readTasks({ ...filter, limit: ROWS, ...(pageParam === '' ? {} : { cursor: pageParam }) }, signal),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  })

function readTasks(query: Question, signal: AbortSignal) {
  return answerOf(client.GET('/api/v1/admin/videos', { params: { query }, signal }))
}

export type Task = Awaited<ReturnType<typeof readTasks>>['data'][number]

/** Asks the task's vendor at once, whichever instance polls it. */
export const lookAgain = (id: string) =>
  dataOf(client.POST('/api/v1/admin/videos/{id}/repoll', { params: { path: { id } } }))

export const giveUp = (id: string, reason: string) =>
  dataOf(client.POST('/api/v1/admin/videos/{id}/fail', { params: { path: { id } }, body: { reason } }))
