/** Revenue and cost of each model in the period that the address names. */
import { useQuery } from '@tanstack/react-query'
import { type ChainMargin, marginQuery } from '../../api/operator/models.ts'
import { choiceField } from '../../parts/lists/search-fields.ts'
import { useAddress } from '../parts/use-address.ts'
import { type Earned, earnedOf } from '../parts/earned.ts'

export const PERIODS = ['24h', '7d', '30d'] as const
type Period = (typeof PERIODS)[number]

const HOUR_MS = 3_600_000
const HOURS = { '24h': 24, '7d': 7 * 24, '30d': 30 * 24 } as const

export function usePeriod(): Period {
  const [{ period }] = useAddress()
  return choiceField(period, PERIODS) ?? '7d'
}

/** By chain; the period starts at a full hour, so that the query key changes only once an hour. */
export function useMargins(): readonly ChainMargin[] | undefined {
  const period = usePeriod()
  const hour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS
  const { data } = useQuery(marginQuery({ from: new Date(hour - HOURS[period] * HOUR_MS).toISOString() }))
  return data?.chains
}

/** undefined: the model was not called. */
export function useEarned(): (model: string) => Earned | undefined {
  const margins = useMargins()
  const byModel = Map.groupBy(margins ?? [], ({ model }) => model)
  return (model) => {
    const chains = byModel.get(model)
    return chains === undefined ? undefined : earnedOf(chains)
  }
}
