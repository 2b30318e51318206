import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from './api-error.ts'
import { reportAnswer } from './connection.ts'
import { forgetRefusal, reportRefusal } from './refusal.ts'

/** How often numbers are refreshed while the page is visible. */
export const LIVE_MS = 5_000
/** Younger data is not requested again when a page is opened. */
const FRESH_MS = 2_000
const RETRIES_MAX = 1
/** An offline browser may still reach its gateway; if it does not, the error is shown instead of a silent wait. */
const NETWORK_MODE = 'always'

export function createQueryClient(): QueryClient {
  const told = { onError: reportAnswer, onSuccess: () => reportAnswer(undefined) }
  return new QueryClient({
    queryCache: new QueryCache(told),
    mutationCache: new MutationCache({
      ...told,
      onMutate: (_variables, { meta }) => {
        if (meta?.refusal === 'frame') forgetRefusal()
      },
      onError: (error, _variables, _context, { meta, mutationId }) => {
        reportAnswer(error)
        if (meta?.refusal === 'frame') reportRefusal({ id: mutationId, error })
      },
    }),
    defaultOptions: {
      queries: {
        networkMode: NETWORK_MODE,
        staleTime: FRESH_MS,
        // Only requests without a definite answer are retried.
        retry: (failures, error) =>
          failures < RETRIES_MAX && error instanceof ApiError && (error.status === 0 || error.status >= 500),
      },
      // Requests and answers may hold secrets: both are dropped with the form.
      mutations: { networkMode: NETWORK_MODE, retry: false, gcTime: 0 },
    },
  })
}
