/**
 * Organisations, as seen by an admin. To change one, an admin changes its account: suspending, activating, granting
 * Credits by its id below `/api/v1/admin/accounts`.
 */
import * as z from 'zod'
import { accountId } from '../../../../../core/ids.ts'
import { microCredits } from '../../../../../core/money.ts'
import { creditsText, yuanText } from '../../../../../management/money/amounts.ts'
import { viewMember } from '../../../../../management/organisations/member-view.ts'
import type { Organisation } from '../../../../../storage/stores/organisations.ts'
import { definePage, defineRoute, type RouteContext } from '../../../define-route.ts'
import { currencyCode, decimalText, isoTime, pageQuery, nextCursor } from '../../../answers/wire-values.ts'
import { memberShape, monthOptions, shown, type ShapesContext } from '../../organisations/shapes.ts'
import { present } from '../admin-route.ts'
import type { ApiContext, Api } from '../../../api-context.ts'

type AdminOrganisationsContext = RouteContext & ShapesContext

const TAG = 'Admin: accounts'
const PATH = '/api/v1/admin/organisations'
const idParams = z.object({ id: z.string().min(1).max(128) })

const organisationShape = z.strictObject({
  id: z.string().meta({ description: 'Of its account too.' }),
  name: z.string(),
  created_at: isoTime,
  status: z.enum(['active', 'suspended']),
  credits: decimalText,
  held_credits: decimalText,
  owed: decimalText,
  currency: currencyCode,
  balance: decimalText,
})

export function adminOrganisationRoutes(app: Api, context: AdminOrganisationsContext): void {
  readRoutes(app, context)
  memberRoute(app, context)
}

function readRoutes(app: Api, context: AdminOrganisationsContext): void {
  const { storage } = context
  definePage(app, context, {
    method: 'GET',
    path: PATH,
    access: 'admin',
    tag: TAG,
    summary: 'List organisations',
    description: 'Closed ones are still accounts of kind `organisation`, but not in this list.',
    query: z.strictObject(pageQuery({ rowsDefault: 50, rowsMax: 200 })),
    row: organisationShape,
    handle: async ({ query: { limit, cursor: after } }) => {
      const organisations = await storage.organisations.list({ limit, after })
      const rows: z.output<typeof organisationShape>[] = []
      for (const organisation of organisations) rows.push(await viewRow(context, organisation))
      return { rows, next: nextCursor(organisations, limit) }
    },
  })

  defineRoute(app, context, {
    method: 'GET',
    path: `${PATH}/:id`,
    access: 'admin',
    tag: TAG,
    summary: 'Read an organisation',
    params: idParams,
    data: organisationShape,
    handle: async ({ params }) =>
      viewRow(context, present(await storage.organisations.find(accountId(params.id)))),
  })
}

function memberRoute(app: Api, context: AdminOrganisationsContext): void {
  const { storage } = context
  definePage(app, context, {
    method: 'GET',
    path: `${PATH}/:id/members`,
    access: 'admin',
    tag: TAG,
    summary: 'List the members of an organisation, in order of joining',
    params: idParams,
    query: z.strictObject(pageQuery({ rowsDefault: 50, rowsMax: 200 })),
    row: memberShape,
    handle: async ({ params, query: { limit, cursor: after } }) => {
      const { id } = present(await storage.organisations.find(accountId(params.id)))
      const options = monthOptions(context)
      const members = await storage.organisations.members(id, { limit, after })
      return {
        rows: members.map((member) => shown(memberShape, viewMember(member, options))),
        next: nextCursor(members, limit),
      }
    },
  })
}

async function viewRow(
  context: Pick<ApiContext, 'catalogue' | 'storage'>,
  { id, name, createdAt }: Organisation,
): Promise<z.output<typeof organisationShape>> {
  const account = present(await context.storage.accounts.find(id))
  const { currency, creditsPerUnit } = context.catalogue().settings
  return {
    id,
    name,
    created_at: new Date(createdAt).toISOString(),
    status: account.status,
    credits: creditsText(microCredits(account.credits - account.held)),
    held_credits: creditsText(account.held),
    owed: creditsText(account.owed),
    currency,
    balance: yuanText(account.balance, creditsPerUnit),
  }
}
