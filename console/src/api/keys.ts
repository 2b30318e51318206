import { queryOptions } from '@tanstack/react-query'
import { actingFor, answerOf, client, dataOf } from './client.ts'
import type { paths } from './generated.d.ts'

const KEYS = '/api/v1/user/user/keys'
const KEY = '/api/v1/user/user/keys/{id}'
/** More keys than anybody has; one page of the API. */
const KEYS_MAX = 1_000

/** The body that creates a key; a change has the same members. */
export type KeyBody = paths[typeof KEYS]['post']['requestBody']['content']['application/json']
export type KeyChange = Partial<Omit<KeyBody, 'member'>>

export const keysQuery = (organisation?: string) =>
  queryOptions({
    queryKey: ['keys', organisation ?? ''],
    queryFn: ({ signal }) => readKeys(organisation, signal),
  })

/** What each key has used of its limits, and when it was used last. */
export const keyLimitsQuery = (organisation?: string) =>
  queryOptions({
    queryKey: ['key-limits', organisation ?? ''],
    queryFn: ({ signal }) => readKeyLimits(organisation, signal),
  })

async function readKeys(organisation: string | undefined, signal: AbortSignal) {
  const params = { query: { limit: KEYS_MAX }, header: actingFor(organisation) }
  return (await answerOf(client.GET(KEYS, { params, signal }))).data
}

async function readKeyLimits(organisation: string | undefined, signal: AbortSignal) {
  const params = { query: { limit: KEYS_MAX }, header: actingFor(organisation) }
  return (await answerOf(client.GET('/api/v1/user/user/keys/limits', { params, signal }))).data
}

export type Key = Awaited<ReturnType<typeof readKeys>>[number]
export type KeyLimits = Awaited<ReturnType<typeof readKeyLimits>>[number]

export const createKey = (body: KeyBody, organisation?: string) =>
  dataOf(client.POST(KEYS, { params: { header: actingFor(organisation) }, body }))

export const changeKey = (id: string, body: KeyChange, organisation?: string) =>
  dataOf(client.PATCH(KEY, { params: { path: { id }, header: actingFor(organisation) }, body }))

export const deleteKey = (id: string, organisation?: string) =>
  dataOf(client.DELETE(KEY, { params: { path: { id }, header: actingFor(organisation) } }))

/** `overlap`: seconds for which the former secret keeps working. */
export const rotateKey = (id: string, overlap: number, organisation?: string) =>
  dataOf(
    client.POST('/api/v1/user/user/keys/{id}/rotate', {
      params: { path: { id }, header: actingFor(organisation) },
      body: { overlap_seconds: overlap },
    }),
  )

/** A key with its secret, which only this answer contains. */
export type NewKey = Awaited<ReturnType<typeof createKey>>
