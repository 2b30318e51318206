import { client, dataOf } from '../client.ts'
import type { paths } from '../generated.d.ts'

type Question = NonNullable<paths['/api/v1/admin/statistics']['get']['parameters']['query']>

/** Usage of all accounts, or of one. */
export const readAnyUsage = (query: Question, signal: AbortSignal) =>
  dataOf(client.GET('/api/v1/admin/statistics', { params: { query }, signal }))
