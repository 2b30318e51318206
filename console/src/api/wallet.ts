/** The money of an account: offers, payments and their outcome. */
import { queryOptions } from '@tanstack/react-query'
import { actingFor, answerOf, client, dataOf } from './client.ts'
import type { paths } from './generated.d.ts'

const ACCOUNT = '/api/v1/user/user/account'
const SUBSCRIPTION = '/api/v1/user/user/subscription'
const STATEMENTS = '/api/v1/user/user/statements'
const TOP_UPS = '/api/v1/user/user/top-ups'
/** How long offers are shown before they are requested again. */
const OFFERS_FRESH_MS = 60_000

/** The account, and the idempotency key under which the request is carried out only once. */
export interface Acting {
  readonly organisation: string | undefined
  readonly once: { readonly 'Idempotency-Key': string }
}

type AccountChange = NonNullable<paths[typeof ACCOUNT]['patch']['requestBody']>['content']['application/json']

export const changeAccount = (body: AccountChange, organisation?: string) =>
  dataOf(client.PATCH(ACCOUNT, { params: { header: actingFor(organisation) }, body }))

/** Packages and means of payment; the same for everybody. */
export const offersQuery = queryOptions({
  queryKey: ['top-up-offers'],
  staleTime: OFFERS_FRESH_MS,
  queryFn: ({ signal }) => dataOf(client.GET('/api/v1/user/user/top-up-offers', { signal })),
})

export const plansQuery = queryOptions({
  queryKey: ['plans'],
  staleTime: OFFERS_FRESH_MS,
  queryFn: ({ signal }) => readPlans(signal),
})

function readPlans(signal: AbortSignal) {
  return dataOf(client.GET('/api/v1/user/user/plans', { signal }))
}

export type Plan = Awaited<ReturnType<typeof readPlans>>[number]
export type Pool = 'balance' | 'credits'

export const quoteQuery = (plan: string, pool: Pool, organisation?: string) =>
  queryOptions({
    queryKey: ['quote', organisation ?? '', plan, pool],
    queryFn: ({ signal }) => readQuote({ plan, pool, organisation, signal }),
  })

interface QuoteQuestion {
  readonly plan: string
  readonly pool: Pool
  readonly organisation: string | undefined
  readonly signal: AbortSignal
}

function readQuote({ plan, pool, organisation, signal }: QuoteQuestion) {
  const params = { query: { plan, pay_from: pool }, header: actingFor(organisation) }
  return dataOf(client.GET('/api/v1/user/user/subscription/quote', { params, signal }))
}

export type Quote = Awaited<ReturnType<typeof readQuote>>

export const buyPlan = (
  body: { readonly plan: string; readonly pay_from: Pool; readonly auto_renew: boolean },
  { organisation, once }: Acting,
) => dataOf(client.POST(SUBSCRIPTION, { params: { header: { ...actingFor(organisation), ...once } }, body }))

export const changeRenewal = (
  body: { readonly auto_renew?: boolean; readonly next_plan?: string; readonly pay_from?: Pool },
  organisation?: string,
) => dataOf(client.PATCH(SUBSCRIPTION, { params: { header: actingFor(organisation) }, body }))

export const exchange = (yuan: string, { organisation, once }: Acting) =>
  dataOf(
    client.POST('/api/v1/user/user/exchange', {
      params: { header: { ...actingFor(organisation), ...once } },
      body: { yuan },
    }),
  )

export const redeem = (code: string, { organisation, once }: Acting) =>
  dataOf(
    client.POST('/api/v1/user/user/redeem', {
      params: { header: { ...actingFor(organisation), ...once } },
      body: { code },
    }),
  )

export const beginTopUp = (
  wanted: { readonly amount_yuan: string } | { readonly package: string },
  { organisation, once, returnUrl }: Acting & { readonly returnUrl: string },
) =>
  dataOf(
    client.POST(TOP_UPS, {
      params: { header: { ...actingFor(organisation), ...once } },
      body: { ...wanted, return_url: returnUrl },
    }),
  )

export const topUpsQuery = (after: string | undefined, organisation?: string) =>
  queryOptions({
    queryKey: ['top-ups', organisation ?? '', after ?? ''],
    queryFn: ({ signal }) => readTopUps(after, organisation, signal),
  })

function readTopUps(after: string | undefined, organisation: string | undefined, signal: AbortSignal) {
  const query = after === undefined ? {} : { cursor: after }
  return answerOf(client.GET(TOP_UPS, { params: { query, header: actingFor(organisation) }, signal }))
}

export type TopUp = Awaited<ReturnType<typeof readTopUps>>['data'][number]

export const topUpQuery = (id: string, organisation?: string) =>
  queryOptions({
    queryKey: ['top-up', organisation ?? '', id],
    queryFn: ({ signal }) =>
      dataOf(
        client.GET('/api/v1/user/user/top-ups/{id}', {
          params: { path: { id }, header: actingFor(organisation) },
          signal,
        }),
      ),
  })

export interface StatementPage {
  /** 2026-11 */
  readonly month: string
  readonly after: string | undefined
}

export const statementQuery = (page: StatementPage, organisation?: string) =>
  queryOptions({
    queryKey: ['statement', organisation ?? '', page],
    queryFn: ({ signal }) => readStatement(page, organisation, signal),
  })

function readStatement(
  { month, after }: StatementPage,
  organisation: string | undefined,
  signal: AbortSignal,
) {
  const query = { month, ...(after === undefined ? {} : { cursor: after }) }
  return dataOf(client.GET(STATEMENTS, { params: { query, header: actingFor(organisation) }, signal }))
}

export type Entry = Awaited<ReturnType<typeof readStatement>>['entries'][number]

export const exportStatement = (
  month: string,
  format: 'csv' | 'ndjson',
  organisation?: string,
): Promise<Blob> =>
  answerOf(
    client.GET('/api/v1/user/user/statements/export', {
      params: { query: { month, format }, header: actingFor(organisation) },
      parseAs: 'blob',
    }),
  )
