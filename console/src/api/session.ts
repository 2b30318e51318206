/** Who is signed in, and the account they act for. */
import { queryOptions, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { actingFor, answerOf, client, dataOf } from './client.ts'

/** More organisations than a person belongs to; one page of the API. */
const ORGANISATIONS_MAX = 100

/** The person's own account, or that of an organisation if they may read it. */
export const accountQuery = (organisation?: string) =>
  queryOptions({
    queryKey: ['account', organisation ?? ''],
    queryFn: ({ signal }) => readAccount(organisation, signal),
  })

function readAccount(organisation: string | undefined, signal: AbortSignal) {
  return dataOf(
    client.GET('/api/v1/user/user/account', { params: { header: actingFor(organisation) }, signal }),
  )
}

export type Account = Awaited<ReturnType<typeof readAccount>>

export const organisationsQuery = queryOptions({
  queryKey: ['organisations'],
  queryFn: async ({ signal }) => {
    const params = { query: { limit: ORGANISATIONS_MAX } }
    return (await answerOf(client.GET('/api/v1/user/user/organisations', { params, signal }))).data
  },
})

/** The account of the person who is signed in; the frame loads it before any page is shown. */
export function usePerson() {
  return useSuspenseQuery(accountQuery()).data
}

/** The id of the organisation in the address; undefined: people act for themselves. */
export function useOrganisationId(): string | undefined {
  return useSearch({ strict: false, select: ({ org }) => org })
}

/** The person's role in the active organisation. */
export function useMembership() {
  const id = useOrganisationId()
  const { data } = useQuery({ ...organisationsQuery, enabled: id !== undefined })
  return id === undefined ? undefined : data?.find((organisation) => organisation.id === id)
}

/** Whether the person may see and change the account's money and settings. */
export function useMayManage(): boolean {
  const id = useOrganisationId()
  const membership = useMembership()
  return id === undefined || (membership !== undefined && membership.member.role !== 'member')
}

/** Whether the person may make commitments for the account: always for themselves, in an organisation only as an owner. */
export function useIsOwner(): boolean {
  const id = useOrganisationId()
  const membership = useMembership()
  return id === undefined || membership?.member.role === 'owner'
}
