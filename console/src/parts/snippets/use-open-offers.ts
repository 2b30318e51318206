import { useQuery } from '@tanstack/react-query'
import { admissionQuery, type Offer, pricingQuery } from '../../api/models.ts'
import { useOrganisationId } from '../../api/session.ts'

/** The offers that the person may call; all offers if there are none. undefined: not loaded yet. */
export function useOpenOffers(): readonly Offer[] | undefined {
  const organisation = useOrganisationId()
  const { data: offers } = useQuery(pricingQuery(organisation))
  const { data: admissions } = useQuery(admissionQuery(organisation))
  if (offers === undefined || admissions === undefined) return undefined
  const closed = new Set(
    admissions.filter(({ missing }) => missing.length > 0).map(({ model_id }) => model_id),
  )
  const open = offers.filter(({ model_id: id }) => !closed.has(id))
  return open.length > 0 ? open : offers
}
