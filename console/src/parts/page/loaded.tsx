import { Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
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

/** Shows the result of a query: a skeleton while it loads, the error if it fails. */
export function Loaded<Data>({ query, height, children }: LoadedProps<Data>) {
  if (query.data !== undefined) return children(query.data)
  if (query.error === null) return <Skeleton height={height} />
  return <Problem error={query.error} onRetry={() => inBackground(query.refetch())} />
}
