import { queryOptions } from '@tanstack/react-query'
import { actingFor, answerOf, client, dataOf } from './client.ts'

const VERIFICATION = '/api/v1/user/user/verification'

/** The account's level of verification, and its requests, newest first. */
export const verificationQuery = (organisation?: string) =>
  queryOptions({
    queryKey: ['verification', organisation ?? ''],
    queryFn: ({ signal }) => readVerification(organisation, signal),
  })

function readVerification(organisation: string | undefined, signal: AbortSignal) {
  return dataOf(client.GET(VERIFICATION, { params: { header: actingFor(organisation) }, signal }))
}

export type VerificationRequest = Awaited<ReturnType<typeof readVerification>>['requests'][number]
export type VerificationKind = VerificationRequest['kind']

/** The statements, under the gateway's field names, and the documents that prove them. */
export function askVerification(
  kind: VerificationKind,
  stated: Readonly<Record<string, string>>,
  {
    documents,
    organisation,
  }: { readonly documents: readonly File[]; readonly organisation: string | undefined },
) {
  const form = new FormData()
  form.set('kind', kind)
  for (const [name, value] of Object.entries(stated)) form.set(name, value)
  for (const document of documents) form.append('documents', document)
  return dataOf(
    client.POST(VERIFICATION, {
      params: { header: actingFor(organisation) },
      body: { kind, documents: [] },
      bodySerializer: () => form,
    }),
  )
}

export const withdrawVerification = (id: string, organisation?: string) =>
  dataOf(
    client.DELETE('/api/v1/user/user/verification/{id}', {
      params: { path: { id }, header: actingFor(organisation) },
    }),
  )

export const readDocument = (id: string, number: number, organisation?: string): Promise<Blob> =>
  answerOf(
    client.GET('/api/v1/user/user/verification/{id}/documents/{number}', {
      params: { path: { id, number }, header: actingFor(organisation) },
      parseAs: 'blob',
    }),
  )
