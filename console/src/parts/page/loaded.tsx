import { Skeleton } from '@mantine/core'
import { type ReactNode, useDeferredValue } from 'react'
import { inBackground } from './in-background.ts'
import { Problem } from './problem.tsx'

export interface LoadedProps<Data> {
  readonly query: {
    readonly data: Data | undefined
    readonly error: unknown
    refetch(): Promise<unknown>
  }
  /** Height of the skeleton in px, so that nothing moves; or a CSS length if it differs on a phone. */
  readonly height: number | string
  readonly children: (data: Data) => ReactNode
}

/**
 * Shows the result of a query: a skeleton while it loads, the error if it fails. What comes in place of the skeleton is rendered
 * in short tasks, between which the browser stays responsive; all at once, the sections of the overview took 25 ms.
 */
export function Loaded<Data>({ query, height, children }: LoadedProps<Data>) {
  const { data, error } = query
  const isShown = useDeferredValue(data !== undefined)
  if (data !== undefined && isShown) return children(data)
  if (data !== undefined || error === null) return <Skeleton height={height} />
  return <Problem error={error} onRetry={() => inBackground(query.refetch())} />
}
