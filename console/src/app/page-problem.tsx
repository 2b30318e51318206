import { useQueryErrorResetBoundary } from '@tanstack/react-query'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { inBackground } from '../parts/page/in-background.ts'
import { Problem } from '../parts/page/problem.tsx'

/** Shown in place of a page that failed. */
export function PageProblem({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const queries = useQueryErrorResetBoundary()
  const retry = (): void => {
    queries.reset()
    reset()
    inBackground(router.invalidate())
  }
  return <Problem error={error} onRetry={retry} />
}
