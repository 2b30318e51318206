import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './api-error.ts'
import { reportAnswer } from './connection.ts'

/** How often numbers are read anew while the page can be seen. */
export const LIVE_MS = 5_000
/** What was read this lately is shown as it is when one comes back to a page. */
const FRESH_MS = 2_000
const RETRIES_MAX = 1
/** A browser without the Internet may well reach its gateway; where it does not, one is told so and nothing waits unseen. */
const NETWORK_MODE = 'always'

export function createQueryClient(): QueryClient {
  const told = { onError: reportAnswer, onSuccess: () => reportAnswer(undefined) }
  return new QueryClient({
    queryCache: new QueryCache(told),
    mutationCache: new MutationCache(told),
    defaultOptions: {
      queries: {
        networkMode: NETWORK_MODE,
        staleTime: FRESH_MS,
        // Only what the gateway could not say is worth asking again.
        retry: (failures, error) =>
          failures < RETRIES_MAX && error instanceof ApiError && (error.status === 0 || error.status >= 500),
      },
      // What was sent may be a secret, and what came back one that is shown once: both go with the form.
      mutations: { networkMode: NETWORK_MODE, retry: false, gcTime: 0 },
    },
  })
}
