import { useQuery } from '@tanstack/react-query'
import { type Admission, admissionQuery, type Offer, pricingQuery } from '../api/models.ts'
import { LIVE_MS } from '../api/query-client.ts'
import { useOrganisationId } from '../api/session.ts'

export const HEALTHS = ['up', 'unsteady', 'down'] as const

/** A model with its offers at the person's prices, the cheapest first. */
export interface Model extends Admission {
  readonly name: string
  readonly features: readonly string[]
  readonly offers: readonly Offer[]
}

/** All models on offer; `data` is defined when both requests are answered. */
export function useModels() {
  const organisation = useOrganisationId()
  const pricing = useQuery(pricingQuery(organisation))
  const admission = useQuery({ ...admissionQuery(organisation), refetchInterval: LIVE_MS })
  return {
    data: pricing.data && admission.data && modelsOf(admission.data, pricing.data),
    error: pricing.error ?? admission.error,
    refetch: () => Promise.all([pricing.refetch(), admission.refetch()]),
  }
}

function modelsOf(admissions: readonly Admission[], offers: readonly Offer[]): readonly Model[] {
  const byModel = Map.groupBy(offers, ({ model_id }) => model_id)
  return admissions.flatMap((admission) => {
    const own = byModel.get(admission.model_id)?.toSorted((one, other) => rateOf(one) - rateOf(other))
    const [cheapest] = own ?? []
    if (own === undefined || cheapest === undefined) return []
    return [{ ...admission, name: cheapest.name, features: cheapest.support_features, offers: own }]
  })
}

/** The factor between list prices and the person's prices. */
export function rateOf({ rate_multiplier, user_rate }: Offer): number {
  return (rate_multiplier * user_rate) / 100
}
