import { client, dataOf } from '../client.ts'
import type { paths } from '../generated.d.ts'

type Question = NonNullable<paths['/api/v1/admin/statistics']['get']['parameters']['query']>

/** What everybody's calls used, or one account's. */
export const readAnyUsage = (query: Question, signal: AbortSignal) =>
  dataOf(client.GET('/api/v1/admin/statistics', { params: { query }, signal }))
