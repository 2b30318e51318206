/** Organisations: creating, joining and managing them. */
import { queryOptions } from '@tanstack/react-query'
import { answerOf, client, dataOf } from './client.ts'
import type { paths } from './generated.d.ts'

const ALL = '/api/v1/user/user/organisations'
const ONE = '/api/v1/user/user/organisations/{organisation}'
/** More invitations than an organisation has pending; one page of the API. */
const INVITATIONS_MAX = 100

export const createOrganisation = (name: string) => dataOf(client.POST(ALL, { body: { name } }))

export const renameOrganisation = (organisation: string, name: string) =>
  dataOf(client.PATCH(ONE, { params: { path: { organisation } }, body: { name } }))

/** Money that is left in it is lost. */
export const closeOrganisation = (organisation: string) =>
  dataOf(client.DELETE(ONE, { params: { path: { organisation }, query: { forfeit: 'true' } } }))

export const leaveOrganisation = (organisation: string) =>
  dataOf(client.POST(`${ONE}/leave`, { params: { path: { organisation } } }))

export const fundOrganisation = (
  organisation: string,
  body: { readonly credits: string } | { readonly yuan: string },
  once: { readonly 'Idempotency-Key': string },
) => dataOf(client.POST(`${ONE}/fund`, { params: { path: { organisation }, header: once }, body }))

export type Role = 'owner' | 'admin' | 'member'

const MEMBER = `${ONE}/members/{member}` as const

type MemberChange = paths[typeof MEMBER]['patch']['requestBody']['content']['application/json']

export const changeMember = (organisation: string, member: string, body: MemberChange) =>
  dataOf(client.PATCH(MEMBER, { params: { path: { organisation, member } }, body }))

/** `keep`: the member's keys become the organisation's own. */
export const removeMember = (organisation: string, member: string, keys: 'delete' | 'keep') =>
  dataOf(client.DELETE(MEMBER, { params: { path: { organisation, member }, query: { keys } } }))

/** Usage of each member in the current month. */
export const memberUsageQuery = (organisation: string) =>
  queryOptions({
    queryKey: ['member-usage', organisation],
    queryFn: ({ signal }) =>
      dataOf(client.GET(`${ONE}/usage`, { params: { path: { organisation } }, signal })),
  })

export const invitationsQuery = (organisation: string) =>
  queryOptions({
    queryKey: ['invitations', organisation],
    queryFn: ({ signal }) => readInvitations(organisation, signal),
  })

async function readInvitations(organisation: string, signal: AbortSignal) {
  const params = { path: { organisation }, query: { limit: INVITATIONS_MAX, status: 'pending' as const } }
  return (await answerOf(client.GET(`${ONE}/invitations`, { params, signal }))).data
}

export type Invitation = Awaited<ReturnType<typeof readInvitations>>[number]

export const invite = (
  organisation: string,
  body: { readonly email: string; readonly role: Role; readonly monthly_cap_yuan: string },
) => dataOf(client.POST(`${ONE}/invitations`, { params: { path: { organisation } }, body }))

export const resendInvitation = (organisation: string, invitation: string) =>
  dataOf(
    client.POST(`${ONE}/invitations/{invitation}/resend`, { params: { path: { organisation, invitation } } }),
  )

export const revokeInvitation = (organisation: string, invitation: string) =>
  dataOf(client.DELETE(`${ONE}/invitations/{invitation}`, { params: { path: { organisation, invitation } } }))

export const previewInvitation = (token: string) =>
  dataOf(client.POST(`${ALL}/invitations/preview`, { body: { token } }))

export const acceptInvitation = (token: string) =>
  dataOf(client.POST(`${ALL}/invitations/accept`, { body: { token } }))
