import { queryOptions } from '@tanstack/react-query'
import { answerOf, client, dataOf } from '../client.ts'
import type { paths } from '../generated.d.ts'

const MODELS = '/api/v1/admin/models'
const CHANGES = '/api/v1/admin/price-changes'

export type NewModel = paths[typeof MODELS]['post']['requestBody']['content']['application/json']
export type ModelChange =
  paths['/api/v1/admin/models/{id}']['patch']['requestBody']['content']['application/json']
export type NewPrices = paths[typeof CHANGES]['post']['requestBody']['content']['application/json']

export const addModel = (body: NewModel) => dataOf(client.POST(MODELS, { body }))

export const changeModel = (id: string, body: ModelChange) =>
  dataOf(client.PATCH('/api/v1/admin/models/{id}', { params: { path: { id } }, body }))

/** Scheduled price changes: pending, applied and cancelled. */
export const priceChangesQuery = queryOptions({
  queryKey: ['price-changes'],
  queryFn: ({ signal }) => readChanges(signal),
})

function readChanges(signal: AbortSignal) {
  return dataOf(client.GET(CHANGES, { signal }))
}

export type PriceChange = Awaited<ReturnType<typeof readChanges>>[number]

export const schedulePrices = (body: NewPrices) => dataOf(client.POST(CHANGES, { body }))

export const cancelPrices = (id: string) =>
  dataOf(client.DELETE('/api/v1/admin/price-changes/{id}', { params: { path: { id } } }))

interface MarginQuestion {
  /** ISO 8601, at most 31 days ago. */
  readonly from: string
  /** The time zone of the days that are listed; absent: none are. */
  readonly timezone?: string
}

export const marginQuery = (question: MarginQuestion) =>
  queryOptions({
    queryKey: ['margin', question],
    queryFn: ({ signal }) => readMargin(question, signal),
  })

function readMargin(query: MarginQuestion, signal: AbortSignal) {
  return dataOf(client.GET('/api/v1/admin/margin', { params: { query }, signal }))
}

export type ChainMargin = Awaited<ReturnType<typeof readMargin>>['chains'][number]

export const accountMarginsQuery = (question: { readonly from: string; readonly limit: number }) =>
  queryOptions({
    queryKey: ['margin', 'accounts', question],
    queryFn: ({ signal }) =>
      dataOf(client.GET('/api/v1/admin/margin/accounts', { params: { query: question }, signal })),
  })

export interface PriceFile {
  readonly file: string
  readonly effective_at?: string
  /** The id of the review to apply; absent: nothing changes. */
  readonly review?: string
}

export const importPrices = (body: PriceFile) => dataOf(client.POST('/api/v1/admin/prices/import', { body }))

export type PriceReview = Awaited<ReturnType<typeof importPrices>>

export const exportGatewayFile = (format: 'yaml' | 'json'): Promise<Blob> =>
  answerOf(client.GET('/api/v1/admin/gateway-file', { params: { query: { format } }, parseAs: 'blob' }))

/** Presets: vendors that the gateway knows, with their models and list prices. */
export const presetsQuery = queryOptions({
  queryKey: ['presets'],
  queryFn: ({ signal }) => readPresets(signal),
})

function readPresets(signal: AbortSignal) {
  return dataOf(client.GET('/api/v1/admin/presets', { signal }))
}

export type Preset = Awaited<ReturnType<typeof readPresets>>[number]

/** `key`: the vendor's API key; empty: it is entered later. */
export const addFromPreset = (
  code: string,
  { models, key }: { readonly models: readonly string[]; readonly key: string },
) =>
  dataOf(
    client.POST('/api/v1/admin/presets/{id}/add', {
      params: { path: { id: code } },
      body: { models: [...models], ...(key === '' ? {} : { key }) },
    }),
  )
