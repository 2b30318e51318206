import { queryOptions } from '@tanstack/react-query'
import { actingFor, answerOf, client } from './client.ts'

/** More than anybody has. */
const KEYS_MAX = 1_000

export const keysQuery = (organisation?: string) =>
  queryOptions({
    queryKey: ['keys', organisation ?? ''],
    queryFn: ({ signal }) => readKeys(organisation, signal),
  })

async function readKeys(organisation: string | undefined, signal: AbortSignal) {
  const params = { query: { limit: KEYS_MAX }, header: actingFor(organisation) }
  return (await answerOf(client.GET('/api/v1/user/user/keys', { params, signal }))).data
}
