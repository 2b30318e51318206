import { queryOptions } from '@tanstack/react-query'
import { answerOf, client } from './client.ts'

/** More members than an organisation has; one page of the API. */
const MEMBERS_MAX = 200

/** The members of an organisation, in order of joining. */
export const membersQuery = (organisation: string) =>
  queryOptions({
    queryKey: ['members', organisation],
    queryFn: ({ signal }) => readMembers(organisation, signal),
  })

async function readMembers(organisation: string, signal: AbortSignal) {
  const params = { path: { organisation }, query: { limit: MEMBERS_MAX } }
  const path = '/api/v1/user/user/organisations/{organisation}/members'
  return (await answerOf(client.GET(path, { params, signal }))).data
}

export type Member = Awaited<ReturnType<typeof readMembers>>[number]
