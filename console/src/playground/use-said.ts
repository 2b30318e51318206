/** The playground's conversation, kept while the console is open. */
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useOrganisationId } from '../api/session.ts'
import type { Turn } from './conversation.ts'

const NOTHING: readonly Turn[] = []

/** Kept when another page is opened; lost when the window is closed or somebody else signs in. */
export function useSaid() {
  const queryClient = useQueryClient()
  const query = queryOptions({
    queryKey: ['playground-said', useOrganisationId() ?? ''],
    queryFn: () => NOTHING,
    initialData: NOTHING,
    enabled: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  })
  const { data: said } = useQuery(query)
  const keep = (turns: readonly Turn[]): void => {
    queryClient.setQueryData(query.queryKey, turns)
  }
  return { said, keep, forget: () => keep(NOTHING) }
}
