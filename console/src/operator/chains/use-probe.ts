import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Probe } from '../../api/operator/chains.ts'

const keyOf = (id: number) => ['probe', id]

/** The result of the last test call over a chain, whichever button started it. */
export function useProbe(id: number): readonly [Probe | undefined, (probe: Probe | undefined) => void] {
  const keep = useKeepProbe()
  const { data } = useQuery<Probe | null>({ queryKey: keyOf(id), queryFn: skipToken })
  return [data ?? undefined, (probe) => keep(id, probe)]
}

export function useKeepProbe(): (id: number, probe: Probe | undefined) => void {
  const queryClient = useQueryClient()
  return (id, probe) => queryClient.setQueryData<Probe | null>(keyOf(id), probe ?? null)
}
