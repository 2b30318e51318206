/** Requests of a page, sent before the page is loaded: its file and its data arrive in parallel. */
import type { FetchQueryOptions, QueryClient, QueryKey } from '@tanstack/react-query'
import { inBackground } from '../parts/page/in-background.ts'

/** Does not wait. A failure is reported to the component that shows the answer. */
export function askAhead<Answer, Data, Key extends QueryKey>(
  queryClient: QueryClient,
  query: FetchQueryOptions<Answer, Error, Data, Key>,
): void {
  inBackground(queryClient.prefetchQuery(query))
}
