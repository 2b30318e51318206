import { queryOptions } from '@tanstack/react-query'
import { client, dataOf } from '../client.ts'
import type { paths } from '../generated.d.ts'

const PLANS = '/api/v1/admin/plans'
const PLAN = '/api/v1/admin/plans/{id}'

export type NewPlan = paths[typeof PLANS]['post']['requestBody']['content']['application/json']
type PlanChange = Omit<NewPlan, 'code'>

/** The plans on sale. */
export const plansQuery = queryOptions({
  queryKey: ['plans'],
  queryFn: ({ signal }) => readPlans(signal),
})

function readPlans(signal: AbortSignal) {
  return dataOf(client.GET(PLANS, { signal }))
}

export type Plan = Awaited<ReturnType<typeof readPlans>>[number]

export const addPlan = (body: NewPlan) => dataOf(client.POST(PLANS, { body }))

export const changePlan = (code: string, body: PlanChange) =>
  dataOf(client.PATCH(PLAN, { params: { path: { id: code } }, body }))

export const removePlan = (code: string) => dataOf(client.DELETE(PLAN, { params: { path: { id: code } } }))
