/** Who is signed in, and for whom they act. */
import { queryOptions, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { actingFor, answerOf, client, dataOf } from './client.ts'

/** More than a person is in, and one page. */
const ORGANISATIONS_MAX = 100

/** An account: one's own, or an organisation's where one may read it. */
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

/** The account of whoever is signed in; the frame has read it before any page is shown. */
export function usePerson() {
  return useSuspenseQuery(accountQuery()).data
}

/** The id of the organisation that the address names; undefined: one acts for oneself. */
export function useOrganisationId(): string | undefined {
  return useSearch({ strict: false, select: ({ org }) => org })
}

/** The person's role in the active organisation. */
export function useMembership() {
  const id = useOrganisationId()
  const { data } = useQuery({ ...organisationsQuery, enabled: id !== undefined })
  return id === undefined ? undefined : data?.find((organisation) => organisation.id === id)
}

/** Whether one may see and change what belongs to the account as a whole: its money, its settings. */
export function useMayManage(): boolean {
  const id = useOrganisationId()
  const membership = useMembership()
  return id === undefined || (membership !== undefined && membership.member.role !== 'member')
}

/** Whether one decides what the account is bound to: for oneself always, in an organisation its owners. */
export function useIsOwner(): boolean {
  const id = useOrganisationId()
  const membership = useMembership()
  return id === undefined || membership?.member.role === 'owner'
}
