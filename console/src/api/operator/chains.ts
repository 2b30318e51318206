import { queryOptions } from '@tanstack/react-query'
import { client, dataOf } from '../client.ts'
import type { paths } from '../generated.d.ts'

const CHAINS = '/api/v1/admin/chains'

export type NewChain = paths[typeof CHAINS]['post']['requestBody']['content']['application/json']
export type ChainChange =
  paths['/api/v1/admin/chains/{id}']['patch']['requestBody']['content']['application/json']

/** All chains with their health. */
export const chainsQuery = queryOptions({
  queryKey: ['chains'],
  queryFn: ({ signal }) => readChains(signal),
})

function readChains(signal: AbortSignal) {
  return dataOf(client.GET(CHAINS, { signal }))
}

export type Chain = Awaited<ReturnType<typeof readChains>>[number]

export const addChain = (body: NewChain) => dataOf(client.POST(CHAINS, { body }))

export const changeChain = (id: number, body: ChainChange) =>
  dataOf(client.PATCH('/api/v1/admin/chains/{id}', { params: { path: { id: String(id) } }, body }))

export type ChainAct = 'enable' | 'disable' | 'drain' | 'reset'

export function actOnChain(id: number, act: ChainAct) {
  const params = { params: { path: { id } } }
  switch (act) {
    case 'enable':
      return dataOf(client.POST('/api/v1/admin/chains/{id}/enable', params))
    case 'disable':
      return dataOf(client.POST('/api/v1/admin/chains/{id}/disable', params))
    case 'drain':
      return dataOf(client.POST('/api/v1/admin/chains/{id}/drain', params))
    case 'reset':
      return dataOf(client.POST('/api/v1/admin/chains/{id}/reset', params))
  }
}

/** Makes one real, cheap call over the chain. */
export const testChain = (id: number) =>
  dataOf(client.POST('/api/v1/admin/chains/{id}/test', { params: { path: { id } } }))

export type Probe = Awaited<ReturnType<typeof testChain>>
