/** Requests about signing in: password, second factors, sessions, linked services, e-mail address and phone number. */
import { queryOptions } from '@tanstack/react-query'
import { client, dataOf } from './client.ts'

const USER = '/api/v1/user/user'

export const factorsQuery = queryOptions({
  queryKey: ['second-factors'],
  queryFn: ({ signal }) => dataOf(client.GET(`${USER}/second-factors`, { signal })),
})

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: ({ signal }) => readSessions(signal),
})

function readSessions(signal: AbortSignal) {
  return dataOf(client.GET(`${USER}/sessions`, { signal }))
}

export type Session = Awaited<ReturnType<typeof readSessions>>[number]

export const endSession = (id: string) =>
  dataOf(client.DELETE(`${USER}/sessions/{id}`, { params: { path: { id } } }))

export const endOtherSessions = () => dataOf(client.DELETE(`${USER}/sessions`))

/** Ends every session; the current one is replaced by a new one. */
export const changePassword = (body: { readonly current_password?: string; readonly password: string }) =>
  dataOf(client.PUT(`${USER}/password`, { body }))

export const removePasskey = (id: string) =>
  dataOf(client.DELETE(`${USER}/second-factors/passkeys/{id}`, { params: { path: { id } } }))

export const beginTotp = () => dataOf(client.POST(`${USER}/second-factors/totp`))

export const confirmTotp = (code: string) =>
  dataOf(client.POST(`${USER}/second-factors/totp/confirm`, { body: { code } }))

export const removeTotp = () => dataOf(client.DELETE(`${USER}/second-factors/totp`))

export const renewRecoveryCodes = () => dataOf(client.POST(`${USER}/second-factors/recovery-codes`))

/** The services that the gateway offers for signing in. */
export const servicesQuery = queryOptions({
  queryKey: ['sign-in-services'],
  queryFn: ({ signal }) => dataOf(client.GET(`${USER}/sign-in/services`, { signal })),
})

export const linkedQuery = queryOptions({
  queryKey: ['linked-services'],
  queryFn: ({ signal }) => dataOf(client.GET(`${USER}/linked-services`, { signal })),
})

/** Resolves to the URL of the service's sign-in page. */
export const linkService = async (name: string, returnTo: string): Promise<string> =>
  (
    await dataOf(
      client.POST(`${USER}/linked-services/{name}/start`, {
        params: { path: { name } },
        body: { return_to: returnTo },
      }),
    )
  ).url

export const unlinkService = (name: string) =>
  dataOf(client.DELETE(`${USER}/linked-services/{name}`, { params: { path: { name } } }))

export type Channel = 'email' | 'phone'

/** Sends a code to the new address, to prove that it belongs to the person. */
export const sendAddressCode = (channel: Channel, target: string) =>
  dataOf(
    client.POST(`${USER}/verification-codes`, {
      body: { channel, target, purpose: channel === 'email' ? 'change_email' : 'change_phone' },
    }),
  )

export const changeAddress = (channel: Channel, target: string, code: string) =>
  channel === 'email'
    ? dataOf(client.PUT(`${USER}/email`, { body: { email: target, code } }))
    : dataOf(client.PUT(`${USER}/phone`, { body: { phone: target, code } }))
