import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { answerOf, client, dataOf } from '../client.ts'
import type { paths } from '../generated.d.ts'

const ROWS = 50
const PACKAGE = '/api/v1/admin/top-up-packages/{code}'
const BATCHES = '/api/v1/admin/code-batches'

type TopUpFilter = Pick<
  NonNullable<paths['/api/v1/admin/top-ups']['get']['parameters']['query']>,
  'status' | 'account_id'
>
export type PackageBody = paths[typeof PACKAGE]['put']['requestBody']['content']['application/json']
export type NewCodes = paths[typeof BATCHES]['post']['requestBody']['content']['application/json']

const cursorOf = (pageParam: string) => ({ limit: ROWS, ...(pageParam === '' ? {} : { cursor: pageParam }) })

/** Top-ups of all accounts, newest first. */
export const topUpsQuery = (filter: TopUpFilter) =>
  infiniteQueryOptions({
    queryKey: ['any-top-ups', filter],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => readTopUps({ ...filter, ...cursorOf(pageParam) }, signal),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  })

function readTopUps(query: TopUpFilter & { limit: number; cursor?: string }, signal: AbortSignal) {
  return answerOf(client.GET('/api/v1/admin/top-ups', { params: { query }, signal }))
}

export type AnyTopUp = Awaited<ReturnType<typeof readTopUps>>['data'][number]

/** Answered calls that cost nothing, and why. */
export const freeCallsQuery = infiniteQueryOptions({
  queryKey: ['free-calls'],
  initialPageParam: '',
  queryFn: ({ pageParam, signal }) => readFreeCalls(pageParam, signal),
  getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
})

function readFreeCalls(pageParam: string, signal: AbortSignal) {
  return answerOf(client.GET('/api/v1/admin/free-calls', { params: { query: cursorOf(pageParam) }, signal }))
}

export type FreeCall = Awaited<ReturnType<typeof readFreeCalls>>['data'][number]

export const packagesQuery = queryOptions({
  queryKey: ['packages'],
  queryFn: ({ signal }) => readPackages(signal),
})

function readPackages(signal: AbortSignal) {
  return dataOf(client.GET('/api/v1/admin/top-up-packages', { signal }))
}

export type Package = Awaited<ReturnType<typeof readPackages>>[number]

export const putPackage = (code: string, body: PackageBody) =>
  dataOf(client.PUT(PACKAGE, { params: { path: { code } }, body }))

export const removePackage = (code: string) => dataOf(client.DELETE(PACKAGE, { params: { path: { code } } }))

export const batchesQuery = infiniteQueryOptions({
  queryKey: ['batches'],
  initialPageParam: '',
  queryFn: ({ pageParam, signal }) => readBatches(pageParam, signal),
  getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
})

function readBatches(pageParam: string, signal: AbortSignal) {
  return answerOf(client.GET(BATCHES, { params: { query: cursorOf(pageParam) }, signal }))
}

export type Batch = Awaited<ReturnType<typeof readBatches>>['data'][number]

/** The answer is the only one that contains the codes. */
export const makeCodes = (body: NewCodes, once: { 'Idempotency-Key': string }) =>
  dataOf(client.POST(BATCHES, { params: { header: once }, body }))

export const voidBatch = (id: string) =>
  dataOf(client.POST('/api/v1/admin/code-batches/{id}/void', { params: { path: { id } } }))

/** The codes of a batch; only the beginning of each is known. */
export const codesQuery = (batch: string) =>
  infiniteQueryOptions({
    queryKey: ['batches', 'codes', batch],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => readCodes(batch, pageParam, signal),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  })

function readCodes(id: string, pageParam: string, signal: AbortSignal) {
  const params = { path: { id }, query: cursorOf(pageParam) }
  return answerOf(client.GET('/api/v1/admin/code-batches/{id}/codes', { params, signal }))
}

export type Code = Awaited<ReturnType<typeof readCodes>>['data'][number]

/** Voids one code, by its id. */
export const voidCode = (code: string) => dataOf(client.POST('/api/v1/admin/codes/void', { body: { code } }))
