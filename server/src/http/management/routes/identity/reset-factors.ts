import * as z from 'zod'
import { factorChangedText } from '../../../../management/identity/messages/message-texts.ts'
import { resetFactors } from '../../../../management/identity/factors/reset-factors.ts'
import { notifyOwner } from '../../../../management/identity/messages/notify.ts'
import { defineRoute, type RouteContext } from '../../define-route.ts'
import { accountOf, accountParams, actorOf, managementOf, valueOf } from '../admin/admin-route.ts'
import { statedReasonBody } from '../admin/bodies.ts'
import type { Api } from '../../api-context.ts'

/** Last resort for a locked-out owner: an admin removes the second factors. */
export function resetFactorsRoute(app: Api, context: RouteContext): void {
  defineRoute(app, context, {
    method: 'POST',
    path: '/api/v1/admin/accounts/:id/second-factors/reset',
    access: 'admin',
    tag: 'Admin: accounts',
    summary: 'Remove every second factor of an account',
    description:
      'For an owner who lost them all; audited with its reason, and the owner is notified. Every session ends; the password stays.',
    params: accountParams,
    body: statedReasonBody,
    errors: [40900],
    data: z.object({}),
    handle: async ({ params, body, caller, request }) => {
      const account = await accountOf(context, params.id)
      const actor = actorOf(context, { caller, request })
      valueOf(await resetFactors(managementOf(context), account.id, body.reason, actor))
      notifyOwner(
        context.identity,
        account,
        factorChangedText('An administrator removed your second factors'),
      )
      return {}
    },
  })
}
