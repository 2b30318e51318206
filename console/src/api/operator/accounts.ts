import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { answerOf, client, dataOf } from '../client.ts'
import type { paths } from '../generated.d.ts'

const ACCOUNTS = '/api/v1/admin/accounts'
const ACCOUNT = '/api/v1/admin/accounts/{id}'
const ROWS = 50
/** More members than any organisation has; one page of the API. */
const MEMBERS_MAX = 200

type Question = NonNullable<paths[typeof ACCOUNTS]['get']['parameters']['query']>
export type AccountFilter = Pick<Question, 'search' | 'kind' | 'role' | 'status'>
export type AccountBody = paths[typeof ACCOUNTS]['post']['requestBody']['content']['application/json']
export type Grant =
  paths['/api/v1/admin/accounts/{id}/grants']['post']['requestBody']['content']['application/json']

export const accountsQuery = (filter: AccountFilter) =>
  infiniteQueryOptions({
    queryKey: ['accounts', filter],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      readAccounts({ ...filter, limit: ROWS, ...(pageParam === '' ? {} : { cursor: pageParam }) }, signal),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  })

function readAccounts(query: Question, signal: AbortSignal) {
  return answerOf(client.GET(ACCOUNTS, { params: { query }, signal }))
}

export type AccountRow = Awaited<ReturnType<typeof readAccounts>>['data'][number]

/** One account with all its details. */
export const anyAccountQuery = (id: string) =>
  queryOptions({ queryKey: ['accounts', 'one', id], queryFn: ({ signal }) => readAccount(id, signal) })

function readAccount(id: string, signal: AbortSignal) {
  return dataOf(client.GET(ACCOUNT, { params: { path: { id } }, signal }))
}

export type AnyAccount = Awaited<ReturnType<typeof readAccount>>
export type AccountKey = AnyAccount['keys'][number]

export const membersOfQuery = (id: string) =>
  queryOptions({
    queryKey: ['accounts', 'members', id],
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: { limit: MEMBERS_MAX } }
      return (await answerOf(client.GET('/api/v1/admin/organisations/{id}/members', { params, signal }))).data
    },
  })

const USAGE_DAYS = 30
const DAY_MS = 86_400_000

/** Usage of an account by model, over thirty days. */
export const usageOfQuery = (id: string) =>
  queryOptions({ queryKey: ['accounts', 'usage', id], queryFn: ({ signal }) => readUsage(id, signal) })

function readUsage(id: string, signal: AbortSignal) {
  const from = new Date(Date.now() - USAGE_DAYS * DAY_MS).toISOString()
  const query = { account_id: id, from, interval: 'total', group_by: 'model' } as const
  return dataOf(client.GET('/api/v1/admin/statistics', { params: { query }, signal }))
}

export type UsageOf = Awaited<ReturnType<typeof readUsage>>['rows'][number]

export const addAccount = (body: AccountBody) => dataOf(client.POST(ACCOUNTS, { body }))

export const changeAccount = (id: string, body: AccountBody) =>
  dataOf(client.PATCH(ACCOUNT, { params: { path: { id } }, body }))

/** `once`: the idempotency key. */
export const grant = (id: string, body: Grant, once: string) =>
  dataOf(
    client.POST('/api/v1/admin/accounts/{id}/grants', {
      params: { path: { id }, header: { 'Idempotency-Key': once } },
      body,
    }),
  )

export const suspend = (id: string, reason: string) =>
  dataOf(
    client.POST('/api/v1/admin/accounts/{id}/suspend', {
      params: { path: { id } },
      body: reason === '' ? {} : { reason },
    }),
  )

export const activate = (id: string) =>
  dataOf(client.POST('/api/v1/admin/accounts/{id}/activate', { params: { path: { id } } }))

export const resetFactors = (id: string, reason: string) =>
  dataOf(
    client.POST('/api/v1/admin/accounts/{id}/second-factors/reset', {
      params: { path: { id } },
      body: { reason },
    }),
  )

/** The browser acts as the account until impersonation ends. */
export const lookAs = (id: string, reason: string) =>
  dataOf(
    client.POST('/api/v1/admin/accounts/{id}/impersonate', { params: { path: { id } }, body: { reason } }),
  )

const KEYS_OF = '/api/v1/admin/accounts/{id}/keys'
const KEY_OF = '/api/v1/admin/accounts/{id}/keys/{key_id}'
type KeyBodyOf = paths[typeof KEYS_OF]['post']['requestBody']['content']['application/json']

const keyOf = (id: string, key: string) => ({ path: { id, key_id: key } })

type KeysQuestion = NonNullable<paths['/api/v1/admin/keys']['get']['parameters']['query']>
export type KeyFilter = Pick<KeysQuestion, 'search' | 'account_id' | 'group' | 'state'>

/** The keys of all accounts, newest first. */
export const anyKeysQuery = (filter: KeyFilter) =>
  infiniteQueryOptions({
    queryKey: ['accounts', 'keys', filter],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      readAnyKeys({ ...filter, limit: ROWS, ...(pageParam === '' ? {} : { cursor: pageParam }) }, signal),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  })

function readAnyKeys(query: KeysQuestion, signal: AbortSignal) {
  return answerOf(client.GET('/api/v1/admin/keys', { params: { query }, signal }))
}

export type AnyKey = Awaited<ReturnType<typeof readAnyKeys>>['data'][number]

export const makeKeyOf = (id: string, body: KeyBodyOf) =>
  dataOf(client.POST(KEYS_OF, { params: { path: { id } }, body }))

/** A key with its secret, which only this answer contains. */
export type MadeKey = Awaited<ReturnType<typeof makeKeyOf>>

export const changeKeyOf = (id: string, key: string, body: Partial<KeyBodyOf>) =>
  dataOf(client.PATCH(KEY_OF, { params: keyOf(id, key), body }))

/** `overlap`: seconds for which the former secret keeps working. */
export const rotateKeyOf = (id: string, key: string, overlap: number) =>
  dataOf(
    client.POST('/api/v1/admin/accounts/{id}/keys/{key_id}/rotate', {
      params: keyOf(id, key),
      body: { overlap_seconds: overlap },
    }),
  )

export const deleteKeyOf = (id: string, key: string) =>
  dataOf(client.DELETE(KEY_OF, { params: keyOf(id, key) }))
