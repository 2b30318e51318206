import { queryOptions } from '@tanstack/react-query'
import { actingFor, client, dataOf } from './client.ts'

const BYOK = '/api/v1/user/user/byok'
const ONE = '/api/v1/user/user/byok/{vendor}'

/** The person's own vendor keys (BYOK); their secrets are never returned. */
export const ownCredentialsQuery = (organisation?: string) =>
  queryOptions({
    queryKey: ['own-credentials', organisation ?? ''],
    queryFn: ({ signal }) => readOwn(organisation, signal),
  })

function readOwn(organisation: string | undefined, signal: AbortSignal) {
  return dataOf(client.GET(BYOK, { params: { header: actingFor(organisation) }, signal }))
}

export type OwnCredential = Awaited<ReturnType<typeof readOwn>>[number]

export const putOwnCredential = (
  vendor: string,
  body: { readonly secret: string } | { readonly fields: Readonly<Record<string, string>> },
  organisation?: string,
) =>
  dataOf(
    client.PUT(ONE, {
      params: { path: { vendor }, header: actingFor(organisation) },
      body: { ...body, enabled: true },
    }),
  )

export const switchOwnCredential = (vendor: string, enabled: boolean, organisation?: string) =>
  dataOf(
    client.PATCH(ONE, { params: { path: { vendor }, header: actingFor(organisation) }, body: { enabled } }),
  )

export const removeOwnCredential = (vendor: string, organisation?: string) =>
  dataOf(client.DELETE(ONE, { params: { path: { vendor }, header: actingFor(organisation) } }))
