/** The order of a model's chains: the lowest priority is asked first, those of one priority share calls by their weight. */

interface Placed {
  readonly id: number
  readonly priority: number
}

/**
 * Priorities after one chain was moved. Chains that shared a priority still do, except the moved one. Returns only the
 * changed ones.
 */
export function moved<Chain extends Placed>(
  chains: readonly Chain[],
  id: number,
  place: number,
): readonly Placed[] {
  const one = chains.find((chain) => chain.id === id)
  if (one === undefined) return []
  const order = chains.filter((chain) => chain.id !== id).toSpliced(place, 0, one)
  let priority = Math.min(...chains.map((chain) => chain.priority))
  const next = order.map((chain, index) => {
    const before = order[index - 1]
    const together =
      before !== undefined && before.id !== id && chain.id !== id && before.priority === chain.priority
    if (before !== undefined && !together) priority += 1
    return { id: chain.id, priority }
  })
  return next.filter((each) => chains.find((chain) => chain.id === each.id)?.priority !== each.priority)
}
