import { queryOptions } from '@tanstack/react-query'
import { actingFor, client, dataOf } from './client.ts'

/** How long prices are shown before they are requested again. */
const PRICES_FRESH_MS = 60_000

/** Every offer of every model, with the person's own prices. */
export const pricingQuery = (organisation?: string) =>
  queryOptions({
    queryKey: ['pricing', organisation ?? ''],
    staleTime: PRICES_FRESH_MS,
    queryFn: ({ signal }) => readPricing(organisation, signal),
  })

/** The groups a key may be bound to. */
export const groupsQuery = queryOptions({
  queryKey: ['groups'],
  staleTime: PRICES_FRESH_MS,
  queryFn: ({ signal }) => dataOf(client.GET('/api/v1/user/user/groups', { signal })),
})

/** What each model requires of the account, and whether it is available now. */
export const admissionQuery = (organisation?: string) =>
  queryOptions({
    queryKey: ['admission', organisation ?? ''],
    queryFn: ({ signal }) => readAdmission(organisation, signal),
  })

function readAdmission(organisation: string | undefined, signal: AbortSignal) {
  return dataOf(
    client.GET('/api/v1/user/user/admission', { params: { header: actingFor(organisation) }, signal }),
  )
}

function readPricing(organisation: string | undefined, signal: AbortSignal) {
  return dataOf(
    client.GET('/api/v1/user/user/pricing', { params: { header: actingFor(organisation) }, signal }),
  )
}

export type Admission = Awaited<ReturnType<typeof readAdmission>>[number]
export type Offer = Awaited<ReturnType<typeof readPricing>>[number]
