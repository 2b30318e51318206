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
  /** Px of what comes, so that nothing jumps; or a length of CSS where it is another on a phone. */
  readonly height: number | string
  readonly children: (data: Data) => ReactNode
}

/** What an answer shows: its size while it comes, what went wrong where it does not. */
export function Loaded<Data>({ query, height, children }: LoadedProps<Data>) {
  if (query.data !== undefined) return children(query.data)
  if (query.error === null) return <Skeleton height={height} />
  return <Problem error={query.error} onRetry={() => inBackground(query.refetch())} />
}
