import { queryOptions } from '@tanstack/react-query'
import { client, dataOf } from '../client.ts'
import type { paths } from '../generated.d.ts'

type BodyOf<Path extends keyof paths, Method extends 'post' | 'patch'> = paths[Path] extends {
  readonly [Name in Method]: { requestBody: { content: { 'application/json': infer Body } } }
}
  ? Body
  : never

export type NewVendor = BodyOf<'/api/v1/admin/vendors', 'post'>
export type VendorChange = BodyOf<'/api/v1/admin/vendors/{id}', 'patch'>
export type NewCredential = BodyOf<'/api/v1/admin/credentials', 'post'>
export type CredentialChange = BodyOf<'/api/v1/admin/credentials/{id}', 'patch'>

export const vendorsQuery = queryOptions({
  queryKey: ['vendors'],
  queryFn: ({ signal }) => readVendors(signal),
})

export const credentialsQuery = queryOptions({
  queryKey: ['credentials'],
  queryFn: ({ signal }) => readCredentials(signal),
})

/** All models, including those that are hidden. */
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

export type AnyModel = Awaited<ReturnType<typeof readModels>>[number]
export type Vendor = Awaited<ReturnType<typeof readVendors>>[number]
export type Credential = Awaited<ReturnType<typeof readCredentials>>[number]

/** The kinds of vendors and what each needs; they change only with the gateway's version. */
export const vendorKindsQuery = queryOptions({
  queryKey: ['vendor-kinds'],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: ({ signal }) => readKinds(signal),
})

function readKinds(signal: AbortSignal) {
  return dataOf(client.GET('/api/v1/admin/vendor-kinds', { signal }))
}

export type VendorKind = Awaited<ReturnType<typeof readKinds>>[number]

export const addVendor = (body: NewVendor) => dataOf(client.POST('/api/v1/admin/vendors', { body }))

export const changeVendor = (id: string, body: VendorChange) =>
  dataOf(client.PATCH('/api/v1/admin/vendors/{id}', { params: { path: { id } }, body }))

export const addCredential = (body: NewCredential) =>
  dataOf(client.POST('/api/v1/admin/credentials', { body }))

/** A new vendor may already have a credential of that name without a secret. */
export async function putCredential(body: NewCredential) {
  const { vendor, name, ...content } = body
  const all = await dataOf(client.GET('/api/v1/admin/credentials'))
  const known = all.find((credential) => credential.vendor === vendor && credential.name === name)
  return known === undefined ? addCredential(body) : changeCredential(known.id, content)
}

export const changeCredential = (id: string, body: CredentialChange) =>
  dataOf(client.PATCH('/api/v1/admin/credentials/{id}', { params: { path: { id } }, body }))

/** Makes one real, cheap call over a chain that uses the credential. */
export const testCredential = (id: string) =>
  dataOf(client.POST('/api/v1/admin/credentials/{id}/test', { params: { path: { id } } }))
