import { queryOptions } from '@tanstack/react-query'
import { client, dataOf } from '../client.ts'

export const vendorsQuery = queryOptions({
  queryKey: ['vendors'],
  queryFn: ({ signal }) => readVendors(signal),
})

export const credentialsQuery = queryOptions({
  queryKey: ['credentials'],
  queryFn: ({ signal }) => readCredentials(signal),
})

/** Every model there is, whether it is shown or not. */
export const anyModelsQuery = queryOptions({
  queryKey: ['any-models'],
  queryFn: ({ signal }) => readModels(signal),
})

function readVendors(signal: AbortSignal) {
  return dataOf(client.GET('/api/v1/admin/vendors', { signal }))
}

function readCredentials(signal: AbortSignal) {
  return dataOf(client.GET('/api/v1/admin/credentials', { signal }))
}

function readModels(signal: AbortSignal) {
  return dataOf(client.GET('/api/v1/admin/models', { signal }))
}
